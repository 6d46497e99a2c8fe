"""Documents that try to reach files, networks, programs or macros."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.evaluator_cases.file_builders import changed, encoded, noise, odf, pdf_of, unzipped
from tests.hostile_documents.bases import PARTS, HostileDocument, bases, cell, page, table

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET_FILES = ("file:///etc/passwd", "file:///proc/self/environ")
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_BASIC = (
    '<office:scripts><office:event-listeners><script:event-listener xmlns:script="urn:oasis:names:tc:'
    'opendocument:xmlns:script:1.0" script:language="ooo:script" script:event-name="dom:load" '
    'xlink:href="vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document"/>'
    "</office:event-listeners></office:scripts>"
)
_PYTHON = _BASIC.replace("Standard.M.Main?language=Basic", "m.py$main?language=Python")
_MODULE = (
    '<script:module xmlns:script="http://openoffice.org/2000/script" script:name="M" '
    'script:language="StarBasic">Sub Main\nShell("touch /tmp/macro")\n'
    "ThisComponent.CurrentController.Frame.close(True)\nEnd Sub</script:module>"
)
_LIBRARY = (
    '<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" '
    'library:readonly="false" library:passwordprotected="false"><library:element library:name="M"/>'
    "</library:library>"
)
_SVG = (
    '<!DOCTYPE svg [<!ENTITY f SYSTEM "{0}">]><svg xmlns="http://www.w3.org/2000/svg" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" width="99" height="99"><image xlink:href="{0}" '
    'width="9" height="9"/><text y="20">&f;</text><script>alert(1)</script></svg>'
)


def active(address: str) -> Iterator[HostileDocument]:
    """Iterate over the documents.

    Args:
        address: host and port that they try to reach.
    """
    for number, target in enumerate((f"http://{address}/x", f"\\\\{address}\\x", *SECRET_FILES)):
        yield from _odf_links(number, target)
        yield from _ooxml_links(number, target)
        yield from _pdf_actions(number, target)
        rtf = r"{\rtf1{\field{\*\fldinst INCLUDETEXT \"%s\"}{\fldrslt x}}{\field{\*\fldinst INCLUDEPICTURE \"%s\"}{\fldrslt y}}}"
        yield HostileDocument(f"rtf: links {number}", "rtf", (rtf % (target, target)).encode())
        csv = f'=WEBSERVICE("{target}"),=DDE("soffice";"{target}";"a"),"=HYPERLINK(""{target}"")"\n'
        yield HostileDocument(f"csv: formulas {number}", "csv", csv.encode())
    yield from _macros()
    yield from _paths()


def _odf_links(number: int, target: str) -> Iterator[HostileDocument]:
    link = f'xlink:href="{target}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"'
    texts = {
        "picture": f'<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:image {link}/></draw:frame></text:p>',
        "section": f'<text:section text:name="s"><text:section-source {link}/><text:p/></text:section>',
        "object": f'<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:object {link}/></draw:frame></text:p>',
        "program": f'<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:plugin {link}/></draw:frame></text:p>',
        "frame": f'<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:floating-frame {link}/></draw:frame></text:p>',
        "exchange": '<text:p><text:dde-connection text:connection-name="d">x</text:dde-connection></text:p><text:dde-connection-decls>'
        f'<text:dde-connection-decl office:name="d" office:dde-application="soffice" office:dde-topic="{target}" office:dde-item="a"/></text:dde-connection-decls>',
    }
    for name, body in texts.items():
        yield HostileDocument(f"odt: linked {name} {number}", "odt", odf("text", body))
    formulas = (
        f"=WEBSERVICE(&quot;{target}&quot;)",
        f"=DDE(&quot;soffice&quot;;&quot;{target}&quot;;&quot;a&quot;)",
        f"=[&apos;{target}&apos;#$S.A1]",
    )
    for name, formula in zip(("service", "exchange", "sheet"), formulas, strict=True):
        data = odf("spreadsheet", table(f"<table:table-row>{cell(formula)}</table:table-row>"))
        yield HostileDocument(f"ods: linked {name} {number}", "ods", data)
    source = f'<table:table table:name="L"><table:table-source {link} table:table-name="S"/><table:table-row/></table:table>'
    yield HostileDocument(f"ods: linked table {number}", "ods", odf("spreadsheet", source))
    media = f'<draw:frame svg:width="5cm" svg:height="5cm"><draw:plugin {link} draw:mime-type="application/vnd.sun.star.media"/></draw:frame>'
    yield HostileDocument(f"odp: linked media {number}", "odp", odf("presentation", page(media)))
    svg = _SVG.format(target).encode()
    frame = '<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:image xlink:href="Pictures/a.svg"/></draw:frame></text:p>'
    yield HostileDocument(
        f"odt: drawing {number}", "odt", odf("text", frame, files={"Pictures/a.svg": svg})
    )
    data = bases()["odt"]
    entity = f'<!DOCTYPE x [<!ENTITY f SYSTEM "{target}">]>'
    xml = (
        unzipped(data)["content.xml"]
        .decode()
        .replace("?>", f"?>{entity}", 1)
        .replace("The word", "&f;")
    )
    yield HostileDocument(
        f"odt: entity {number}", "odt", changed(data, {"content.xml": xml.encode()})
    )


def _ooxml_links(number: int, target: str) -> Iterator[HostileDocument]:
    kinds = {
        "docx": ("attachedTemplate", "image", "oleObject", "aFChunk", "frame"),
        "xlsx": ("externalLinkPath", "image", "oleObject", "connections"),
        "pptx": ("image", "video", "oleObject", "slideMaster"),
    }
    for suffix, names in kinds.items():
        folder, _, file = PARTS[suffix].rpartition("/")
        part = f"{folder}/_rels/{file}.rels"
        relations = "".join(
            f'<Relationship Id="rX{place}" Type="{_RELATIONS}/{name}" Target="{target}" TargetMode="External"/>'
            for place, name in enumerate(names)
        )
        parts = unzipped(bases()[suffix])
        before = parts.get(
            part,
            b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>',
        )
        rels = before.decode().replace("</Relationships>", f"{relations}</Relationships>")
        content = parts[PARTS[suffix]].decode()
        if suffix == "docx":
            field = f'<w:p><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText>INCLUDETEXT "{target}"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p><w:altChunk xmlns:r="{_RELATIONS}" r:id="rX3"/>'
            content = content.replace("<w:body>", f"<w:body>{field}")
        elif suffix == "xlsx":
            content = content.replace(
                "</sheetData>",
                f'<row r="90"><c r="A90"><f>_xlfn.WEBSERVICE("{target}")</f><v>0</v></c><c r="B90"><f>cmd|"/c {target}"!A1</f><v>0</v></c></row></sheetData>',
            )
        else:
            content = content.replace(
                "</p:spTree>",
                f'<p:pic xmlns:r="{_RELATIONS}"><p:nvPicPr><p:cNvPr id="90" name="x"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:link="rX0"/></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm></p:spPr></p:pic></p:spTree>',
            )
        data = changed(bases()[suffix], {part: rels.encode(), PARTS[suffix]: content.encode()})
        yield HostileDocument(f"{suffix}: external parts {number}", suffix, data)


def _pdf_actions(number: int, target: str) -> Iterator[HostileDocument]:
    actions = {
        "script": f"<</S/JavaScript/JS(app.launchURL\\('{target}'\\);while\\(true\\){{}})>>",
        "launch": f"<</S/Launch/F({target})/Win<</F(cmd.exe)>>>>",
        "form": f"<</S/SubmitForm/F<</FS/URL/F({target})>>>>",
        "document": f"<</S/GoToR/F<</FS/URL/F({target})>>/D[0/Fit]>>",
    }
    for name, action in actions.items():
        objects = [
            "<</Type/Catalog/Pages 2 0 R/OpenAction 4 0 R/AA<</WC 4 0 R>>/Names<</JavaScript<</Names[(a)4 0 R]>>>>>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/AA<</O 4 0 R>>/Contents<</F<</FS/URL/F({target})>>/Length 0>>>>",
            action,
        ]
        yield HostileDocument(f"pdf: {name} {number}", "pdf", pdf_of(objects))


def _macros() -> Iterator[HostileDocument]:
    files = {
        "Basic/Standard/M.xml": _MODULE.encode(),
        "Basic/Standard/script-lb.xml": _LIBRARY.encode(),
    }
    for kind, suffix in (("text", "odt"), ("spreadsheet", "ods"), ("presentation", "odp")):
        for name, scripts, more in (
            ("Basic", _BASIC, files),
            (
                "Python",
                _PYTHON,
                {"Scripts/python/m.py": b"import os\ndef main(): os.system('touch /tmp/macro')\n"},
            ),
        ):
            data = odf(
                kind,
                {
                    "text": "<text:p>x</text:p>",
                    "spreadsheet": table("<table:table-row/>"),
                    "presentation": page(""),
                }[kind],
                files=more,
            )
            xml = unzipped(data)["content.xml"].decode()
            xml = xml.replace("<office:automatic-styles>", f"{scripts}<office:automatic-styles>", 1)
            yield HostileDocument(
                f"{suffix}: {name} on load", suffix, changed(data, {"content.xml": xml.encode()})
            )
    for suffix, folder in (("docx", "word"), ("xlsx", "xl"), ("pptx", "ppt")):
        binary = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + noise(3).tobytes()[:4096]
        parts = {f"{folder}/vbaProject.bin": binary, f"{folder}/embeddings/oleObject1.bin": binary}
        yield HostileDocument(
            f"{suffix}: macros and objects", suffix, changed(bases()[suffix], parts)
        )
        yield HostileDocument(
            f"{suffix}: an old document by its mark",
            {"docx": "doc", "xlsx": "xls", "pptx": "ppt"}[suffix],
            binary,
        )


def _paths() -> Iterator[HostileDocument]:
    for suffix in PARTS:
        parts = {
            "../../../../tmp/out": b"out",
            "/etc/passwd": b"out",
            "a\\..\\..\\b": b"out",
            f"{'d/' * 2000}x": b"out",
            "": b"out",
        }
        yield HostileDocument(
            f"{suffix}: paths out of the archive", suffix, changed(bases()[suffix], parts)
        )
    font = b"\0\1\0\0" + noise(4).tobytes()[:9000]
    face = '<office:font-face-decls><style:font-face style:name="F" svg:font-family="F"><svg:font-face-src><svg:font-face-uri xlink:href="Fonts/f.ttf"/></svg:font-face-src></style:font-face></office:font-face-decls>'
    data = odf("text", "<text:p>x</text:p>", files={"Fonts/f.ttf": font})
    xml = (
        unzipped(data)["content.xml"]
        .decode()
        .replace("<office:automatic-styles>", f"{face}<office:automatic-styles>", 1)
    )
    yield HostileDocument("odt: a broken font", "odt", changed(data, {"content.xml": xml.encode()}))
    for suffix in ("docx", "ods", "pdf", "png"):
        yield HostileDocument(f"{suffix}: empty", suffix, b"")
        yield HostileDocument(f"{suffix}: a picture", suffix, encoded(noise(1)))
        yield HostileDocument(
            f"{suffix}: a page",
            suffix,
            b"<html><script>alert(1)</script><img src='file:///etc/passwd'></html>",
        )
