"""The renderer: the desktop's own LibreOffice, pdfium and Pillow, for views of documents."""
