"""Mutants that no case detects, and why: most change nothing that matters.

Keys are patterns of `fnmatch`: a square bracket is written ``[[]``. A reason counts only for a
mutant that survived.
"""

from __future__ import annotations

_BOUND = "a bound a little further off bounds as well"
_ONE_MORE = "one byte more is read, and then refused all the same"
_NOTHING = "what stands for a missing file is not what is asked for"
_CLOSED = "the child that judges ends soon, and its files with it"
_SAME = "words that only need be the same on both sides"
_ANY = "any value of the variable, or any name, does"
_REACH = "the same outcome by another way: the folder, link or file is refused one step later"

_SHARES = "no share or length that is written as a decimal is exactly the bound"
_FLOAT = "a measured likeness is never exactly the bound"
_LATER = "it raises one step later, and the node is inconclusive all the same"
_FOLDED = "letters there are folded, and none is an X"
_PINNED = "no evaluator reads it; test_phone_view.py pins it"
_UNREAD = "no shipped evaluator reads it; test_readers.py pins it for suites' own"
_OPAQUE = "what is more than opaque is opaque"
_MEASURED = "a place that was recognised is not known to the px"
_ATTRIBUTED = "whose fault it is, see test_attribution.py"
_STRICT = "both always have the same length"
_EITHER = "an operator either shows text or paints"
_BYTES_OF_ERRORS = "only for bytes that no program prints there"

EQUIVALENT: dict[str, str] = {
    "evaluators.*MAX_*": _BOUND,
    "evaluators.*: 'replace' -> 'replaceXX'": _BYTES_OF_ERRORS,
    # answers
    "evaluators.session.parsing._OPENING: *": _FOLDED,
    "evaluators.session.parsing._CLOSING: *": _FOLDED,
    "evaluators.session.answers.answer_is_*: '' -> 'XX'": "what stands for no answer is no answer",
    "evaluators.session.answers.answer_matches: * raise EvaluationError*": _LATER,
    "evaluators.session.parsing.normalize: *: '*' -> '*XX'": _FOLDED,
    # several machines
    "evaluators.session.view.*: * raise *": _LATER,
    "evaluators.session.view.CrossView.gsetting: *: ' ' -> *": "words of an error",
    "evaluators.session.view.CrossView.gsetting: *: '\\'\"' -> *": "what is not quoted never begins and ends with X",
    # documents
    "evaluators.documents.text.document_text_styled: * letters.rfind(text)": "it stands there once",
    "evaluators.documents.text.document_text_coloured: *: '#' -> '#XX'": _FOLDED,
    "evaluators.documents.pdfs.pdf_page_has_text: *: ' ' -> *": "what follows the last blank is not read",
    "evaluators.documents.pdfs.pdf_field_equals: *: '' -> 'XX'": _NOTHING,
    "evaluators.documents.spreadsheets._calculator: *: '' -> 'XX'": _NOTHING,
    "evaluators.documents.spreadsheets._plain: *: '' -> 'XX'": _SAME,
    "evaluators.documents.spreadsheets._range: *: '!' -> '!XX'": _SAME,
    "evaluators.documents.spreadsheets.cell_filled: *: '#' -> '#XX'": _FOLDED,
    "evaluators.documents.images._original: * raise *": _LATER,
    "evaluators.documents.images.*: True -> False": _STRICT,
    "evaluators.documents.images.image_turned: *: '' -> 'XX'": "any name that is no way to turn does",
    "evaluators.documents.images._kept: * alike > _SAME_STRUCTURE": _FLOAT,
    "evaluators.documents.images.image_made_grey: * > _SAME_STRUCTURE": _FLOAT,
    "evaluators.documents.images.image_brightness_changed: *: 2 -> 3": _FLOAT,
    "evaluators.documents.images._greys: * (highest + lowest) [*] 2": "a likeness has no scale",
    "evaluators.documents.images._greys: *: 2 -> 3": "a likeness has no scale",
    "evaluators.documents.images._is_grey: * < _COLOURED_SHARE": _FLOAT,
    "evaluators.documents.images.image_contrast_changed: * > _LEAST_CONTRAST": _FLOAT,
    "evaluators.desktop.database._page_bytes: *: 1 -> 2": "no page has two bytes",
    "evaluators.desktop.database._OPERATIONS_A_STEP: *": _BOUND,
    "evaluators.desktop.programs._CHUNK_BYTES: *": _BOUND,
    "evaluators.desktop.*._TIMEOUT_S: *": _BOUND,
    "evaluators.desktop.*: os.close(fd) -> pass": _CLOSED,
    "evaluators.desktop.*: '' -> 'XX'": _NOTHING,
    "evaluators.desktop.*: b'' -> b'XX'": _NOTHING,
    "evaluators.desktop.*: '\\x00' -> '\\x00XX'": _ANY,
    # histories
    "evaluators.desktop.history._Open.__init__: * False -> True": "each line that is read sets it anew",
    "evaluators.desktop.history.commands_in: *: 1 -> 2": _BOUND,
    "evaluators.desktop.history.commands_in: * scanned + 1": _BOUND,
    # repositories
    "evaluators.desktop.repository._CONFIGURATION: *": "what git takes where there is none",
    "evaluators.desktop.repository._copy: *_CONFIGURATION*": "what git takes where there is none",
    "evaluators.desktop.repository._copy: *'config' -> *": "what git takes where there is none",
    "evaluators.desktop.repository._below: *'refs/replace' -> *": "git is told to obey no replacement as well",
    # archives
    "evaluators.desktop.archives._members: * -> file.seek(0, 2) >= _MAX_ARCHIVE_BYTES": _BOUND,
    "evaluators.desktop.archives._members: *: 0 -> 1": "a bound, or a place that the reader sets anew",
    "evaluators.desktop.archives._content: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.archives._SAYS_UTF8: *": "the other bit is of encrypted members, which cannot be unpacked",
    "evaluators.desktop.archives._tarred: * -> number <= MAX_ENTRIES": _BOUND,
    "evaluators.desktop.archives._tarred: * < _MAX_STREAM_BYTES": _BOUND,
    "evaluators.desktop.archives._unicode_path: * len(extra) > *": "a field without content counts for nothing",
    "evaluators.desktop.settings._HEAD_BYTES: *": _BOUND,
    "evaluators.desktop.settings._is_enabled: *: 9 -> 10": _BOUND,
    # desktop entries
    "evaluators.desktop.entries._places: *: '-/' -> '-/XX'": "no entry is named so",
    # PDFs
    "evaluators.readers.pdf.*: '' -> 'XX'": _NOTHING,
    "evaluators.readers.pdf._PageText.__init__: *: 0 -> 1": "a bound, and where numbers begin",
    "evaluators.readers.pdf._PageText.read: *: 0 -> 1": "any number that is no object's",
    "evaluators.readers.pdf._PageText.read: * <= *": "the same operators are put back",
    "evaluators.readers.pdf._PageText._show: *: 1 -> 2": _BOUND,
    "evaluators.readers.visibility.is_visible: *: True -> False": _STRICT,
    # office documents
    "evaluators.readers.odf._Document.look: *: 32 -> 33": _BOUND,
    "evaluators.readers.odf._Document.look: * break -> continue": "what is not there is not there again",
    "evaluators.readers.odf._Document._shown_name: *": _UNREAD,
    "evaluators.readers.odf._Document._paper: *: True -> False": _STRICT,
    "evaluators.readers.odf._Document.charts: *: './' -> *": _FOLDED,
    "evaluators.readers.odf._Document.charts: *: '/' -> *": _FOLDED,
    "evaluators.readers.odf._Document._page_size: *: 0 -> 1": "no slide is a millimetre wide",
    "evaluators.readers.odf._Document._page_size: *: 1.0 -> 2.0": "any height of what has none does",
    "evaluators.readers.odf._Document._shape: * text -> not text": _UNREAD,
    "evaluators.readers.odf._Document._shape: *: 'other' -> *": _UNREAD,
    "evaluators.readers.odf._Document._shape: *: '' -> 'XX'": _UNREAD,
    "evaluators.readers.odf._split: *: '' -> 'XX'": "neither is a number",
    "evaluators.readers.odf._cell: *: '' -> 'XX'": "neither is a colour",
    "evaluators.readers.odf._cell: line * 'time' -> *": "neither a time nor its text is recalculated",
    "evaluators.readers.odf._reference: *: '' -> 'XX'": "no sheet is named so",
    "evaluators.readers.odf._chart: *: '' -> 'XX'": _NOTHING,
    "evaluators.readers.odf._own_text: *: 1000 -> 1001": _BOUND,
    "evaluators.readers.odf._run: *: '' -> 'XX'": "neither is a colour",
    "evaluators.readers.odf_look.Look.is_legible: * <= FAINTEST *": _SHARES,
    "evaluators.readers.odf_look.Look.is_legible: * > -size / 2 *": _SHARES,
    "evaluators.readers.odf_look.Look.is_legible: *: 0.0 -> 1.0": "a millimetre between letters hides none",
    "evaluators.readers.odf_look.Look.is_legible: *: 1.0 -> 2.0": "lines as high as letters bound them; "
    + _OPAQUE,
    "evaluators.readers.odf_look.Look.is_legible: *: '' -> 'XX'": "neither is a colour",
    "evaluators.readers.odf_look._text_look: *: '#' -> '#XX'": _FOLDED,
    "evaluators.readers.odf_look._opacity: *: 1.0 -> 2.0": _OPAQUE,
    "evaluators.readers.odf_picture._is_seen: * <= FAINTEST *": _SHARES,
    "evaluators.readers.ooxml.read_xlsx: *: b'' -> b'XX'": "neither draws anything",
    "evaluators.readers.ooxml.read_xlsx: * left < 0 *": _BOUND,
    "evaluators.readers.ooxml.read_xlsx: *: 0 -> 1": _BOUND,
    "evaluators.readers.ooxml._check_merges: * start_column is None or *": _LATER,
    "evaluators.readers.ooxml._check_merges: * raise ValueError('a merged range has no corners') *": _LATER,
    "evaluators.readers.ooxml._xlsx_cell: *: '' -> 'XX'": "neither is a colour or a formula",
    "evaluators.readers.ooxml._xlsx_chart: *: 'bar' -> *": "every chart of bars has a direction",
    "evaluators.readers.ooxml._xlsx_chart: *: '' -> 'XX'": "neither is a range",
    "evaluators.readers.ooxml._rich_text: *: '' -> 'XX'": _NOTHING,
    "evaluators.readers.ooxml.read_pptx: *: 1 -> 2": "every presentation has a size",
    "evaluators.readers.ooxml._pptx_shape: *: '' -> 'XX'": _NOTHING,
    "evaluators.readers.ooxml._pptx_shape: * _has_text(shape) -> not *": _UNREAD,
    "evaluators.readers.ooxml._pptx_shape: *: 'other' -> *": _UNREAD,
    "evaluators.readers.ooxml._has_ink: * int(each) [*] 255 > *": "no whole thousandth is the bound",
    "evaluators.readers.ooxml._pptx_notes: *: '' -> 'XX'": _NOTHING,
    "evaluators.readers.docx_text._HIGHLIGHTS: *: 'ffffff' -> *": "the paper is white as well",
    "evaluators.readers.docx_text.read_paragraph: *: '' -> 'XX'": _UNREAD,
    "evaluators.readers.docx_text._read_run: *: '' -> 'XX'": "neither is a colour",
    "evaluators.readers.docx_text._read_run: *: '%' -> *": _FOLDED,
    "evaluators.readers.archive.check_archive: *: 1 -> 2": _ONE_MORE,
    "evaluators.readers.archive._check_xml: * node.clear() -> pass": "it keeps memory small",
    "evaluators.readers.archive.check_archive: * raise ValueError(f'not a readable *": _LATER,
    "evaluators.readers.pdf_graphics.UNKNOWN: *": _ANY,
    "evaluators.readers.pdf_graphics.union: *: True -> False": _STRICT,
    "evaluators.readers.pdf_operators.Run.follow: *: 1 -> 2": "only the order counts",
    "evaluators.readers.pdf_operators.Run._use: *: '' -> 'XX'": _ANY,
    "evaluators.readers.pdf_operators.Run._is_off: *: 'raw_get' -> *": "pypdf's get returns the reference as well",
    "evaluators.readers.pdf_operators.Run._named: *: 'get_object' -> *": "pypdf's references pass on what is asked",
    "evaluators.readers.pdf_page.Page._is_seen: * area.order >= passage.order": _EITHER,
    "evaluators.readers.pdf_page.Page._is_seen: * area.order <= passage.order": _EITHER,
    "evaluators.readers.pdf._PageText._notes: *: 0 -> 1": "of no size all the same, or a flag of no effect",
    # phone
    "evaluators.phone.alerts.*: '' -> 'XX'": _NOTHING,
    "evaluators.phone.hierarchy._BOUNDS: *": _PINNED,
    "evaluators.phone.hierarchy._NOWHERE: *": _PINNED,
    "evaluators.phone.hierarchy.STATES: *": _PINNED,
    "evaluators.phone.hierarchy._node: *: 'bounds' -> *": _PINNED,
    "evaluators.phone.hierarchy._node: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.hierarchy._node: *: 'class' -> *": _PINNED,
    "evaluators.phone.hierarchy.parse_hierarchy: *": _LATER,
    "evaluators.phone.hierarchy._read: *: [01] -> [12]": "nodes are counted from anywhere",
    "evaluators.phone.notices._CHANNEL: *": _PINNED,
    "evaluators.phone.notices.parse_notifications: *: True -> False": _STRICT,
    "evaluators.phone.notices.parse_notifications: * channel *": _PINNED,
    "evaluators.phone.notices.parse_notifications: *: '' -> 'XX'": _PINNED,
    "evaluators.phone.notices.parse_kept_toast: *": "a line break at the end does not count",
    "evaluators.phone.notices._extras: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.records._KINDS: *": "no evaluator can ask for that kind; test_phone_view.py pins it",
    "evaluators.phone.records._SETTING: *": _PINNED,
    "evaluators.phone.records.parse_settings: *": _PINNED,
    "evaluators.phone.records.*.of_row: *: 'unknown' -> *": _ANY,
    "evaluators.phone.records.parse_stat: *: 16 -> 17": "read so, no mode of a file is one of a folder",
    "evaluators.phone.records.parse_call_state: *": _LATER,
    "evaluators.phone.records._CALL_STATES: *: 'idle' -> *": "no evaluator can ask for it; test_phone_view.py pins it",
    "evaluators.phone.records._int: * raise *": _LATER,
    "evaluators.phone.view.PhoneView.front_activity: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.view.PhoneView.nodes: *: '' -> 'XX'": "evaluators give a package, and no class",
    "evaluators.phone.view.PhoneView.children: *": _PINNED,
    "evaluators.phone.view.PhoneView.siblings: *": _PINNED,
    "evaluators.phone.view.PhoneView.settings: *": _PINNED,
    "evaluators.phone.view.PhoneView.rows: *: '_id' -> *": _PINNED,
    "evaluators.phone.view.PhoneView.rows: * list(common)": _PINNED,
    "evaluators.phone.view.PhoneView._run: *: 0 -> 1": _BOUND,
    "evaluators.phone.view.PhoneView.folder: * -> list*": "the evaluator sorts as well",
    "evaluators.phone.rows.read_column: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.rows.read_column: *: True -> False": _STRICT,
    "evaluators.phone.notices._extras: *: 0 -> 1": "a record begins with the end of a line",
    # vision
    "evaluators.vision.screen.Region: *: 4 -> 5": _LATER,
    "evaluators.vision.screen.screen_has_template: *: 7 -> 8": "one size more is tried",
    "evaluators.vision.screen.screen_has_template: * > least_score": _FLOAT,
    "evaluators.vision.screen.screen_region_coloured: *: '#' -> *": "an X is refused before",
    "evaluators.vision.screen._is_placed: *: 4 -> 5": _MEASURED,
    "evaluators.vision.screen._is_placed: * [<>] *": _FLOAT,
    "evaluators.vision.screen._picture: * raise *": _LATER,
    "evaluators.vision.screen._is_within: *": _MEASURED,
    # databases
    "evaluators.desktop.database.sqlite_row_count: *: '\"' -> '\"XX'": "SQL reads it as a second name",
    "evaluators.desktop.database._select: *: 1 -> 2": "one row more is read, and then refused",
    "evaluators.desktop.database._READS: *": _BOUND,
    "evaluators.desktop.database._prepare: *: raise -> pass": "SQLite then finds no collation without a name",
    # folders
    "evaluators.desktop.folders.directories_equal: *": "a folder never equals a part of itself",
    # reading
    "evaluators.desktop.reading._FOLDER: *": _REACH,
    "evaluators.desktop.reading._FILE: *O_NOCTTY*": "no case has a terminal",
    "evaluators.desktop.reading.opened: *: 1 -> 2": "any negative number says that there is none",
    "evaluators.desktop.reading.opened: * fd < 0 -> fd <= 0": "0 is standard input",
    "evaluators.desktop.reading.opened: *: 0 -> 1": "0 is standard input",
    "evaluators.desktop.reading.read_bytes: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading.names_in: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading.tree_of: *left <= 0": _BOUND,
    "evaluators.desktop.reading.tree_of: *: 0 -> 1": _BOUND,
    "evaluators.desktop.reading.tree_of: *>= MAX_ENTRIES": _BOUND,
    "evaluators.desktop.reading._describe: *: 'link ' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: 'folder' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: 'other' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: [01] -> [12]": _BOUND,
    "evaluators.desktop.reading._digest: *>= max_bytes": _BOUND,
    "evaluators.desktop.reading._digest: *: 0 -> 1": _BOUND,
    "evaluators.desktop.reading._entries: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading._entries: * -> list(*": "trees are equal in any order",
    "evaluators.desktop.reading._entries: *: '/' -> *": _SAME,
    "evaluators.desktop.reading.private_folder: *: 'mesocosm-' -> *": _ANY,
    "evaluators.desktop.reading._open_outside: *: os.close(below) -> pass": _CLOSED,
    "evaluators.desktop.reading._open_outside: *: 1 -> 2": _BOUND,
    "evaluators.desktop.reading._parts: *: '.' -> *": "it leads to the same folder",
    "evaluators.desktop.reading._parent: *full.rpartition*": "fixtures have a folder for their root",
    "evaluators.desktop.reading._parent: *: '/' -> '/XX'": "fixtures have a folder for their root",
    # Firefox
    "evaluators.desktop.firefox_profile._ENDS: *": _ANY,
    "evaluators.desktop.firefox_profile.is_used: * pid < 0": "there is no process 0",
    "evaluators.desktop.firefox_profile.is_used: *: 0 -> 1": "process 1 is no browser",
    "evaluators.desktop.firefox_profile._locker: *: 0 -> 1": "a lock of any part of the file is one, "
    "and process 1 is no browser",
    "evaluators.desktop.firefox_profile._value: *: '+-' -> *": "no number holds an X",
    # packed files
    "evaluators.desktop.lz4.unpack: * raise *": _LATER,
    "evaluators.desktop.lz4._unpack_block: *: 1 -> 2": "what is too long is cut to its length",
    # windows and clipboard
    "evaluators.desktop.clipboard._ask: * raise *": _LATER,
    "evaluators.desktop.clipboard._ask: * code >= 0*": "0 was dealt with before",
    "evaluators.desktop.windows.window_at: * raise *": "too few numbers raise anyhow",
    # services
    "evaluators.desktop.dav._query: * raise *": _LATER,
    "evaluators.desktop.ical.parse_line: *: 'nN' -> *": "no program escapes an X",
    "evaluators.desktop.dav._digits: *: '+0123456789' -> *": "no number holds an X",
    "evaluators.desktop.mail._connection: * server.logout() -> pass": _CLOSED,
    "evaluators.desktop.mail._messages: *: 0 -> 1": "a server says how many there are",
    "evaluators.desktop.mail._messages: * last - _AT_ONCE - 1": "messages are read twice",
    "evaluators.desktop.mail._AT_ONCE: *": "any number at once does",
    "evaluators.desktop.mail.mail_flagged: *: 1 -> 2": _BOUND,
    "evaluators.desktop.mail._parse: *: 2 -> 3": "what follows is no bytes",
    "evaluators.desktop.ical.parse_line: *: '\"' -> *": "an X is no part of the name of a zone's end",
    "evaluators.desktop.page_title._Reader._tag: *: False -> True": "nothing follows a tag that does not end",
    "evaluators.desktop.web.ask: *: 0 -> 1": "no status that a task asks for",
    "evaluators.desktop.web.ask: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.web.ask: * raise ValueError*": "it raises one step later",
    "evaluators.desktop.dav._collection: *: True -> False": "nobody asks whether what is not there is whole",
    "evaluators.desktop.settings._setting: *": _ATTRIBUTED,
    "evaluators.desktop.variants._in_one_form: *": _SAME,
    "evaluators.desktop.crontab.jobs_in: *XX'*": "no X stands at the ends of what is stripped",
    "evaluators.desktop.system.timezone_is: *: '/etc' -> *": "links that lead up lead to the same place",
    "evaluators.desktop.*: parts.hostname or *": _ATTRIBUTED,
    "evaluators.desktop.visible.shown: *: ' ' -> *": _SAME,
    "evaluators.desktop.unchanged.nothing_else_changed: * raise *": _LATER,
    "evaluators.desktop.programs._runs_script: *: '/bin/' -> *": "/bin is a link to /usr/bin",
    "evaluators.desktop.programs._mapped_code: * break -> continue": "the path leads to the same file as the link",
    "evaluators.desktop.programs._mapped_code: * seen.add(file) -> pass": "a file that is asked for twice counts as once",
    "evaluators.desktop.interpreters.*": "test_interpreters.py pins it: this host has few of them",
    "evaluators.desktop.errors.asking: *": _ATTRIBUTED,
    "evaluators.desktop.errors.is_own: *": _ATTRIBUTED,
    "evaluators.desktop.errors._is_own_address: *": _ATTRIBUTED,
    "evaluators.desktop.errors.output_of: * raise *": _ATTRIBUTED,
    # git
    "evaluators.desktop.repository.GIT: *=*": _ANY,
    "evaluators.desktop.git.git_branch_is: *: '--quiet' -> *": "what it says beside is not read",
}

_TLS = "the fixtures' servers speak no TLS: their certificates would have to be trusted"
_OWN_COPY = "cases run git as the user who makes the copy"
_EDGE = "nothing is seen of text that begins exactly at that edge"
_STANDARD_PORT = "a test cannot listen on the standard port"

_BLANK = "only a blank or a line break was cut off"
_OTHERS = "what is cut off is of others"
_NOT_ASKED = "it is not asked"

EQUIVALENT_STATES: dict[str, str] = {
    "calendar_has_event: end and place: args.end: swap case": "a small t separates date and time, too",
    "call_logged: *: args.number: append": "only the digits of a number count",
    "cell_equals: blanks asked for: args.value: cut": _BLANK,
    "cells_equal: an empty text for none: args.rows: repeat": "the row below is empty, too",
    "clipboard_*: xclip: prints nothing": "an owner that lists no form is asked for UTF-8 text",
    "csv_cell_equals: *: flip a byte": "the byte is of another cell",
    "default_gateway_is: other flags: *: flip a byte": "the byte is of another field",
    "directory_exists: a folder: args.path: *": "the folder above is there, too",
    "document_has_paragraph: *: args.text: cut": _BLANK,
    "document_has_paragraph: *: args.text: empty": "an empty paragraph is there, too",
    "file_mode_equals: a program: *: folder": "a folder has permissions as well",
    "image_has_text: a whole line: args.whole_line: turn": "a whole line is part of the line, too",
    "json_value_equals: the whole: args.pointer: cut": "there is nothing to cut off",
    "mail_in_folder: *: no flags": "it has none",
    "mail_*: args.subject: cut": _BLANK,
    "mail_*: args.text: cut": _BLANK,
    "mail_sent_to: *: args.recipients: repeat": "one said twice is one",
    "message_*: args.number: append": "only the digits of a number count",
    "message_*: args.text: cut": _BLANK,
    "notifications_cleared: *: pm list packages: prints less": _OTHERS,
    "panes_frozen: *: flip a byte": "the byte is of something else in the file",
    "package_installed: held back: *": "the bytes are of another field, or package",
    "pdf_page_has_text: on the first page: args.text: cut": "the first word alone is there, too",
    "phone_file_text_equals: empty: args.text: cut": "there is nothing to cut off",
    "phone_folder_lists: none: args.names: drop": "there is nothing to drop",
    "screen_has_text: a whole line: args.whole_line: turn": "a whole line is part of the line, too",
    "sheet_has_chart: *: flip a byte": "the byte is of something else in the file",
    "slide_has_line: blanks around: args.text: cut": _BLANK,
    "slide_layout_is: *: args.slide: less": "the slide before has that layout, too",
    "slide_notes_equal: blanks around: args.text: cut": _BLANK,
    "task_completed: *: prints less": _OTHERS,
    "task_listed: one open, one done: args.title: cut": _BLANK,
    "toast_shown: blanks around *: args.text: cut": _BLANK,
    "toast_shown: on a phone without that service: *": "the service is not there either way",
    "app_in_front: above another that goes on: * prints less": _OTHERS,
    "ui_element_shown: *: args.package: empty": "without a package any application's counts",
    "values_equal: *content*: prints less": _OTHERS,
    "values_equal: a quote in a setting: *: prints less": "only the line break was cut off",
    "values_equal: the column itself: *": _NOT_ASKED,
    "wallpaper_is: *: gsettings: fails": _NOT_ASKED,
    "wallpaper_laid_out: *: gsettings: fails": _NOT_ASKED,
    "xml_text_equals: *: args.element: cut": "a path that ends with a slash means all right below",
    "xml_text_equals: *: args.text: cut": _BLANK,
}
"""Mutations of states that must not change the verdict, and why; tables declare further ones."""

UNDETECTED: dict[str, str] = {
    "evaluators.desktop.mail._PORT*": _STANDARD_PORT,
    "evaluators.desktop.mail._connection: * not is_safe": _STANDARD_PORT,
    "evaluators.desktop.mail._messages: *: 'imaps' -> *": _TLS,
    "evaluators.desktop.web.ask: *: 'https' -> *": _TLS,
    "evaluators.documents.slides.slide_has_line: *: 'other' -> *": "no case has a line in a shape of another kind",
    "evaluators.documents.text.document_text_size: *: 1 -> 2": "no case has hundredths of points in its file",
    "evaluators.desktop.repository.*chmod(493)*": _OWN_COPY,
    "evaluators.desktop.repository.*: 493 -> 494": _OWN_COPY,
    "evaluators.desktop.reading._entries: *_FOLDER & os.O_NOFOLLOW": "only where a folder becomes a link meanwhile",
    "evaluators.desktop.reading.private_folder: *: '/run' -> *": "only where the agent fills the disk",
    "evaluators.desktop.reading._open_outside: *: 0 -> 1": "a bound of links, and cases run as root, who is both",
    "evaluators.readers.visibility.FAINTEST: *": "the modules that use it have taken its value before",
    "evaluators.desktop.database._select: *temp_store*": "it bounds the disk that SQLite takes, not what it returns",
    "evaluators.readers.pdf_graphics.holds: * x < box[[]2]": _EDGE,
    "evaluators.readers.pdf_graphics.holds: * y < box[[]3]": _EDGE,
    "evaluators.desktop.firefox._FOLDERS: *: 'menu' -> *": "the menu's folder also has that title",
    "evaluators.desktop.firefox_profile.default_profile: * or 'Path' in each": "no case has a profile "
    "without a path",
    "evaluators.desktop.firefox_profile.is_used: *: False -> True": "no case has a process that ends "
    "between two questions",
    "evaluators.vision.screen._bounds: *: 0 -> 1": "an icon one px off is still like it",
    "evaluators.desktop.lz4._unpack_block: * len(out) - count": "a bomb is refused for its size then, "
    "after it was unpacked",
    "evaluators.phone.view.PhoneView._query: *: '\\r\\n' -> *": "no case compares a column exactly where lines end so",
    "evaluators.desktop.dav._time: *: 'Z' -> 'ZXX'": "from Python 3.11 on the parser reads Z itself; "
    "the replacement is for guests with an older one",
}
"""Why no case detects a mutant that does matter; it remains a survivor."""
