"""Mutants that no case detects, and the reasons; most have no relevant effect.

Keys are `fnmatch` patterns: a square bracket is written ``[[]``. A reason applies only to a mutant
that survived.
"""

from __future__ import annotations

_BOUND = "a slightly different limit has the same effect"
_ONE_MORE = "one more byte is read, and then rejected anyway"
_NOTHING = "the placeholder for a missing file never equals the expected value"
_CLOSED = "the evaluating child process ends soon and closes its files"
_SAME = "any value works if both sides use it"
_ANY = "any value or name works"
_REACH = "the same result: the folder, link or file is rejected one step later"

_SHARES = "no share or length in decimal notation is exactly at the limit"
_FLOAT = "a measured similarity is never exactly at the limit"
_LATER = "it raises one step later, and the node is inconclusive anyway"
_FOLDED = "case is folded there, and the X never matches"
_PINNED = "no evaluator reads it; test_phone_view.py tests it"
_MEASURED = "a recognised position is not exact to the px"
_ATTRIBUTED = "it changes only to whom the error is attributed; see test_attribution.py"
_STRICT = "both always have the same length"
_LOCKED = "a lock belongs to a different process; test_database.py tests it"
_OF_ROOT = "cases have one user and one host; test_reading.py tests it"
_GROUPED = "test_programs.py tests control groups and code of root's services"
_BYTES_OF_ERRORS = "it affects only bytes that no program prints there"

EQUIVALENT: dict[str, str] = {
    "evaluators.*MAX_*": _BOUND,
    "evaluators.*: 'replace' -> 'replaceXX'": _BYTES_OF_ERRORS,
    # answers
    "evaluators.parsing._OPENING: *": _FOLDED,
    "evaluators.parsing._CLOSING: *": _FOLDED,
    "evaluators.session.answers.answer_is_*: '' -> 'XX'": "the placeholder for a missing answer is never a valid answer",
    "evaluators.session.answers.answer_matches: * raise EvaluationError*": _LATER,
    "evaluators.parsing.normalize: *: '*' -> '*XX'": _FOLDED,
    # several machines
    "evaluators.session.view.*: * raise *": _LATER,
    "evaluators.session.view.CrossView.gsetting: *: ' ' -> *": "text of an error message",
    "evaluators.session.view.CrossView.gsetting: *: '\\'\"' -> *": "an unquoted value never starts and ends with X",
    # documents
    "evaluators.documents.text.document_text_coloured: *: '#' -> '#XX'": _FOLDED,
    "evaluators.documents.images._original: * raise *": _LATER,
    "evaluators.documents.images.*: True -> False": _STRICT,
    "evaluators.documents.images.image_turned: *: '' -> 'XX'": "any name that is not a rotation works",
    "evaluators.documents.images.image_made_grey: * > _SAME_STRUCTURE": _FLOAT,
    "evaluators.documents.images.image_brightness_changed: *: 2 -> 3": _FLOAT,
    "evaluators.documents.images._greys: * (highest + lowest) [*] 2": "a similarity does not depend on the scale",
    "evaluators.documents.images._greys: *: 2 -> 3": "a similarity does not depend on the scale",
    "evaluators.documents.images._is_grey: * < _COLOURED_SHARE": _FLOAT,
    "evaluators.documents.images.image_contrast_changed: * > _LEAST_CONTRAST": _FLOAT,
    "evaluators.desktop.database._page_bytes: *: 1 -> 2": "no page is two bytes long",
    "evaluators.desktop.database._OPERATIONS_A_STEP: *": _BOUND,
    "evaluators.desktop.programs._CHUNK_BYTES: *": _BOUND,
    "evaluators.desktop.database._companions: *suffix == '-journal' -> *": _LOCKED,
    "evaluators.desktop.database._companions: *: '-journal' -> *": _LOCKED,
    "evaluators.desktop.database._companions: * continue -> break": _LOCKED,
    "evaluators.desktop.database._is_reserved: *": _LOCKED,
    "evaluators.desktop.database._is_locked: *": _LOCKED,
    "evaluators.desktop.programs._GROUPS: *": _GROUPED,
    "evaluators.desktop.programs._LENT: *": _GROUPED,
    "evaluators.desktop.programs._is_frozen: *": _GROUPED,
    "evaluators.desktop.programs._may_run_other_code: *name.startswith(_LENT)*": _GROUPED,
    "evaluators.desktop.programs.shares_users: *: False -> True": "an ended process runs no code, which is checked before",
    "evaluators.desktop.*._TIMEOUT_S: *": _BOUND,
    "evaluators.desktop.*: os.close(fd) -> pass": _CLOSED,
    "evaluators.desktop.*: '' -> 'XX'": _NOTHING,
    "evaluators.desktop.*: b'' -> b'XX'": _NOTHING,
    "evaluators.desktop.*: '\\x00' -> '\\x00XX'": _ANY,
    # histories
    "evaluators.desktop.history._Open.__init__: * False -> True": "each line sets it again",
    "evaluators.desktop.history.commands_in: *: 1 -> 2": _BOUND,
    "evaluators.desktop.history.commands_in: * scanned + 1": _BOUND,
    # repositories
    "evaluators.desktop.repository._CONFIGURATION: *": "git's default value",
    "evaluators.desktop.repository._copy: *_CONFIGURATION*": "git's default value",
    "evaluators.desktop.repository._copy: *'config' -> *": "git's default value",
    # archives
    "evaluators.desktop.archives._members: * -> file.seek(0, 2) >= _MAX_ARCHIVE_BYTES": _BOUND,
    "evaluators.desktop.archives._members: *: 0 -> 1": "a limit, or a position that the reader sets again",
    "evaluators.desktop.archives._content: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.archives._SAYS_UTF8: *": "the other bit marks encrypted members, which cannot be unpacked",
    "evaluators.desktop.archives._tarred: * -> number <= MAX_ENTRIES": _BOUND,
    "evaluators.desktop.archives._tarred: * < _MAX_STREAM_BYTES": _BOUND,
    "evaluators.desktop.archives._unicode_path: * len(extra) > *": "an empty field is ignored",
    "evaluators.desktop.settings._HEAD_BYTES: *": _BOUND,
    "evaluators.desktop.settings._is_enabled: *: 9 -> 10": _BOUND,
    # URLs
    "evaluators.desktop.urls.*_URL: *": "the host reads the marks; test_urls.py tests it",
    "evaluators.desktop.urls.complaint: *": "the host calls it; test_urls.py tests it",
    "evaluators.desktop.urls._wrong: *": "text of an error message",
    "evaluators.desktop.urls._SAFE: *": "the letter X is never encoded",
    "evaluators.desktop.urls.page_url: *: '?#' -> *": "the letter X is never encoded",
    "evaluators.desktop.urls._with_host: *: ':' -> *": "the letter X is never encoded",
    "evaluators.desktop.urls._PORTS: *imap*": "test_attribution.py tests mailboxes without a host",
    "evaluators.desktop.urls.page_url: * raise *": _LATER,
    "evaluators.desktop.urls._AROUND: *": "the exclamation mark neither begins nor ends a URL",
    "evaluators.desktop.urls._host: *lower() -> *": "the codec returns lower case",
    "evaluators.desktop.urls._port: *9*": _BOUND,
    # desktop entries
    "evaluators.desktop.entries._places: *: '-/' -> '-/XX'": "no entry has that name",
    # phone
    "evaluators.phone.alerts.*: '' -> 'XX'": _NOTHING,
    "evaluators.phone.hierarchy._BOUNDS: *": _PINNED,
    "evaluators.phone.hierarchy._NOWHERE: *": _PINNED,
    "evaluators.phone.hierarchy.STATES: *": _PINNED,
    "evaluators.phone.hierarchy._node: *: 'bounds' -> *": _PINNED,
    "evaluators.phone.hierarchy._node: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.hierarchy._node: *: 'class' -> *": _PINNED,
    "evaluators.phone.hierarchy.parse_hierarchy: *": _LATER,
    "evaluators.phone.hierarchy._read: *: [01] -> [12]": "the first number of a node is arbitrary",
    "evaluators.phone.notices._CHANNEL: *": _PINNED,
    "evaluators.phone.notices.parse_notifications: *: True -> False": _STRICT,
    "evaluators.phone.notices.parse_notifications: * channel *": _PINNED,
    "evaluators.phone.notices.parse_notifications: *: '' -> 'XX'": _PINNED,
    "evaluators.phone.notices.parse_kept_toast: *": "a trailing line break is ignored",
    "evaluators.phone.notices._extras: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.records._KINDS: *": "no evaluator can expect that kind; test_phone_view.py tests it",
    "evaluators.phone.records._SETTING: *": _PINNED,
    "evaluators.phone.records.parse_settings: *": _PINNED,
    "evaluators.phone.records.*.of_row: *: 'unknown' -> *": _ANY,
    "evaluators.phone.records.parse_stat: *: 16 -> 17": "parsed with that base, no mode of a file is one of a folder",
    "evaluators.phone.records.parse_call_state: *": _LATER,
    "evaluators.phone.records._CALL_STATES: *: 'idle' -> *": "no evaluator can expect it; test_phone_view.py tests it",
    "evaluators.phone.records._int: * raise *": _LATER,
    "evaluators.phone.view.PhoneView.front_activity: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.view.PhoneView.nodes: *: '' -> 'XX'": "evaluators pass a package and no class",
    "evaluators.phone.view.PhoneView.children: *": _PINNED,
    "evaluators.phone.view.PhoneView.siblings: *": _PINNED,
    "evaluators.phone.view.PhoneView.settings: *": _PINNED,
    "evaluators.phone.view.PhoneView.rows: *: '_id' -> *": _PINNED,
    "evaluators.phone.view.PhoneView.rows: * list(common)": _PINNED,
    "evaluators.phone.view.PhoneView._run: *: 0 -> 1": _BOUND,
    "evaluators.phone.view.PhoneView.folder: * -> list*": "the evaluator also sorts",
    "evaluators.phone.rows.read_column: *: '' -> 'XX'": _NOTHING,
    "evaluators.phone.rows.read_column: *: True -> False": _STRICT,
    "evaluators.phone.notices._extras: *: 0 -> 1": "a record starts with a line end",
    # vision
    "evaluators.vision.screen.Region: *: 4 -> 5": _LATER,
    "evaluators.vision.screen.screen_has_template: *: 7 -> 8": "one additional size is tried",
    "evaluators.vision.screen.screen_has_template: * > least_score": _FLOAT,
    "evaluators.vision.screen.screen_region_coloured: *: '#' -> *": "an X is rejected before",
    "evaluators.vision.screen._is_placed: *: 4 -> 5": _MEASURED,
    "evaluators.vision.screen._is_placed: * [<>] *": _FLOAT,
    "evaluators.vision.screen._picture: * raise *": _LATER,
    "evaluators.vision.screen._is_within: *": _MEASURED,
    # databases
    "evaluators.desktop.database.sqlite_row_count: *: '\"' -> '\"XX'": "SQL reads it as an alias",
    "evaluators.desktop.database._select: *: 1 -> 2": "one additional row is read, and then rejected",
    "evaluators.desktop.database._READS: *": _BOUND,
    "evaluators.desktop.database._prepare: *: raise -> pass": "SQLite then finds no collation without a name",
    # folders
    "evaluators.desktop.folders.directories_equal: *": "a folder never equals a part of itself",
    # reading
    "evaluators.desktop.reading._FOLDER: *": _REACH,
    "evaluators.desktop.reading._FILE: *O_NOCTTY*": "no case has a terminal",
    "evaluators.desktop.reading.opened: *: 1 -> 2": "any negative number means that there is none",
    "evaluators.desktop.reading.opened: * fd < 0 -> fd <= 0": "0 is standard input",
    "evaluators.desktop.reading.opened: *: 0 -> 1": "0 is standard input",
    "evaluators.desktop.reading.read_bytes: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading.names_in: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading.tree_of: *left <= 0": _BOUND,
    "evaluators.desktop.reading.tree_of: *: 0 -> 1": _BOUND,
    "evaluators.desktop.reading.tree_of: *>= MAX_ENTRIES": _BOUND,
    "evaluators.desktop.reading._describe: *: 'link ' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: 'folder' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: 'other ' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: [01] -> [12]": _BOUND,
    "evaluators.desktop.reading._digest: *>= max_bytes": _BOUND,
    "evaluators.desktop.reading._digest: *: 0 -> 1": _BOUND,
    "evaluators.desktop.reading._entries: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading._entries: * -> list(*": "the order of trees is irrelevant",
    "evaluators.desktop.reading._entries: *: '/' -> *": _SAME,
    "evaluators.desktop.reading.private_folder: *: 'mesocosm-' -> *": _ANY,
    "evaluators.desktop.reading.private_folder: *os.getuid() == 0*": _OF_ROOT,
    "evaluators.desktop.reading.private_folder: *os.getuid() != 0": _OF_ROOT,
    "evaluators.desktop.reading.private_folder: *: 0 -> 1": _OF_ROOT,
    "evaluators.desktop.reading.private_folder: *: '/run' -> *": _OF_ROOT,
    "evaluators.desktop.reading._open_outside: *: os.close(below) -> pass": _CLOSED,
    "evaluators.desktop.reading._open_outside: *: 1 -> 2": _BOUND,
    "evaluators.desktop.reading._parts: *: '.' -> *": "it leads to the same folder",
    "evaluators.desktop.reading._parent: *full.rpartition*": "the root of a fixture is a folder",
    "evaluators.desktop.reading._parent: *: '/' -> '/XX'": "the root of a fixture is a folder",
    # Firefox
    "evaluators.desktop.firefox_profile._ENDS: *": _ANY,
    "evaluators.desktop.firefox_profile.is_used: * pid < 0": "there is no process 0",
    "evaluators.desktop.firefox_profile.is_used: *: 0 -> 1": "process 1 is not a browser",
    "evaluators.desktop.firefox_profile._locker: *: 0 -> 1": "a lock of any part of the file is sufficient, and process 1 is not a browser",
    "evaluators.desktop.firefox_profile._value: *: '+-' -> *": "no number contains an X",
    # packed files
    "evaluators.desktop.lz4.unpack: * raise *": _LATER,
    "evaluators.desktop.lz4._unpack_block: *: 1 -> 2": "data that is too long is truncated to its declared length",
    # windows and clipboard
    "evaluators.desktop.clipboard._ask: * raise *": _LATER,
    "evaluators.desktop.clipboard._ask: * code >= 0*": "0 was handled before",
    "evaluators.desktop.windows.window_at: * raise *": "too few numbers raise anyway",
    # services
    "evaluators.desktop.dav._query: * raise *": _LATER,
    "evaluators.desktop.ical.parse_line: *: 'nN' -> *": "no program escapes an X",
    "evaluators.desktop.dav._digits: *: '+0123456789' -> *": "no number contains an X",
    "evaluators.desktop.mail._connection: * server.logout() -> pass": _CLOSED,
    "evaluators.desktop.mail._messages: *: 0 -> 1": "the server reports the number of messages",
    "evaluators.desktop.mail._messages: * last - _AT_ONCE - 1": "messages are read twice",
    "evaluators.desktop.mail._AT_ONCE: *": "any batch size works",
    "evaluators.desktop.mail.mail_flagged: *: 1 -> 2": _BOUND,
    "evaluators.desktop.mail._parse: *: 2 -> 3": "the following values are not bytes",
    "evaluators.desktop.ical.parse_line: *: '\"' -> *": "an X is not part of the name of a time zone",
    "evaluators.desktop.page_title._Reader._tag: *: False -> True": "nothing follows an unclosed tag",
    "evaluators.desktop.web.ask: *: 0 -> 1": "no task expects such a status",
    "evaluators.desktop.web.ask: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.web.ask: * raise ValueError*": "it raises one step later",
    "evaluators.desktop.dav._collection: *: True -> False": "the completeness of a missing collection is never read",
    "evaluators.desktop.settings._setting: *": _ATTRIBUTED,
    "evaluators.desktop.variants._in_one_form: *": _SAME,
    "evaluators.desktop.crontab.jobs_in: *XX'*": "there is no X at the ends of the stripped text",
    "evaluators.desktop.system.timezone_is: *: '/etc' -> *": "links with `..` lead to the same path",
    "evaluators.desktop.*: parts.hostname or *": _ATTRIBUTED,
    "evaluators.desktop.visible.shown: *: ' ' -> *": _SAME,
    "evaluators.desktop.unchanged.nothing_else_changed: * raise *": _LATER,
    "evaluators.desktop.programs._runs_script: *: '/bin/' -> *": "/bin is a link to /usr/bin",
    "evaluators.desktop.programs._code_files: * seen.add(file) -> pass": "a file that is queried twice is counted once",
    "evaluators.desktop.interpreters.*": "test_interpreters.py tests it, because the host has few of them",
    "evaluators.desktop.errors.asking: *": _ATTRIBUTED,
    "evaluators.desktop.errors.is_own: *": _ATTRIBUTED,
    "evaluators.desktop.errors._is_own_address: *": _ATTRIBUTED,
    "evaluators.desktop.errors.output_of: * raise *": _ATTRIBUTED,
    # git
    "evaluators.desktop.repository.GIT: *=*": _ANY,
    "evaluators.desktop.git.git_branch_is: *: '--quiet' -> *": "its additional output is ignored",
}

_TLS = "the servers of the fixtures do not support TLS, because their certificates would have to be trusted"
_OWN_COPY = "cases run git as the user who creates the copy"
_EDGE = "text that starts exactly at that edge is not visible"
_STANDARD_PORT = "a test cannot listen on the standard port"

_BLANK = "only a space or a line break was removed"
_OTHERS = "the truncated part is of other items"
_NOT_ASKED = "the evaluator does not read it"

EQUIVALENT_STATES: dict[str, str] = {
    "calendar_has_event: matching end and location: args.end: swap case": "a lower-case t also separates date and time",
    "call_logged: *: args.number: append": "only the digits of a number are compared",
    "cell_equals: expected text has surrounding spaces: args.value: cut": _BLANK,
    "cells_equal: empty text instead of an empty cell: args.rows: repeat": "the next row is also empty",
    "clipboard_*: xclip: prints nothing": "an owner that lists no formats is asked for UTF-8 text",
    "csv_cell_equals: *: flip a byte": "the byte is of a different cell",
    "default_gateway_is: different flags: *: flip a byte": "the byte is of a different field",
    "directory_exists: folder: args.path: *": "the parent folder also exists",
    "document_has_paragraph: *: args.text: cut": _BLANK,
    "document_has_paragraph: *: args.text: empty": "the document also has an empty paragraph",
    "file_mode_equals: executable file: *: folder": "a folder also has permissions",
    "image_has_text: whole line: args.whole_line: negate": "the whole line also contains the text",
    "json_value_equals: whole document: args.pointer: cut": "there is nothing to truncate",
    "mail_in_folder: *: no flags": "it has no flags",
    "mail_*: args.subject: cut": _BLANK,
    "mail_*: args.text: cut": _BLANK,
    "mail_sent_to: *: args.recipients: repeat": "a repeated value has no effect",
    "message_*: args.number: append": "only the digits of a number are compared",
    "message_*: args.text: cut": _BLANK,
    "notifications_cleared: *: pm list packages: prints less": _OTHERS,
    "panes_frozen: *: flip a byte": "the byte is of a different part of the file",
    "package_installed: held back: *": "the bytes are of a different field or package",
    "pdf_page_has_text: on the first page: args.text: cut": "the page also contains only the first word",
    "phone_file_text_equals: empty file and empty expected text: args.text: cut": "there is nothing to truncate",
    "phone_folder_lists: empty folder and empty expected names: args.names: drop": "there is nothing to drop",
    "screen_has_text: whole line: args.whole_line: negate": "the whole line also contains the text",
    "sheet_has_chart: *: flip a byte": "the byte is of a different part of the file",
    "slide_has_line: surrounding spaces: args.text: cut": _BLANK,
    "slide_layout_is: *: args.slide: less": "the previous slide also has that layout",
    "slide_notes_equal: surrounding spaces: args.text: cut": _BLANK,
    "task_completed: *: prints less": _OTHERS,
    "task_listed: one open task, one done: args.title: cut": _BLANK,
    "toast_shown: surrounding spaces *: args.text: cut": _BLANK,
    "toast_shown: on a phone without the recording service: *": "the service is missing either way",
    "app_in_front: on top of a different running activity: * prints less": _OTHERS,
    "ui_element_shown: *: args.package: empty": "without a package, elements of any application match",
    "values_equal: *content*: prints less": _OTHERS,
    "values_equal: quote in a setting: *: prints less": "only the line break was removed",
    "values_equal: the queried column itself: *": _NOT_ASKED,
    "wallpaper_is: *: gsettings: fails": _NOT_ASKED,
    "wallpaper_laid_out: *: gsettings: fails": _NOT_ASKED,
    "xml_text_equals: *: args.element: cut": "a path with a trailing slash selects all direct children",
    "xml_text_equals: *: args.text: cut": _BLANK,
}
"""Mutations of states that must not change the verdict, with reasons; tables declare additional ones."""

UNDETECTED: dict[str, str] = {
    "evaluators.desktop.mail._PORT*": _STANDARD_PORT,
    "evaluators.desktop.mail._connection: * not is_safe": _STANDARD_PORT,
    "evaluators.desktop.mail._messages: *: 'imaps' -> *": _TLS,
    "evaluators.desktop.web.ask: *: 'https' -> *": _TLS,
    "evaluators.desktop.repository.*chmod(493)*": _OWN_COPY,
    "evaluators.desktop.repository.*: 493 -> 494": _OWN_COPY,
    "evaluators.desktop.reading._entries: *_FOLDER & os.O_NOFOLLOW": "only if a folder is replaced by a link at the same time",
    "evaluators.desktop.reading._open_outside: *: 0 -> 1": "a limit of links, and cases run as root, who is both users",
    "evaluators.desktop.database._select: *temp_store*": "it limits SQLite's disk usage, not its result",
    "evaluators.desktop.firefox._FOLDERS: *: 'menu' -> *": "the menu folder also has that title",
    "evaluators.desktop.firefox_profile.default_profile: * or 'Path' in section": "no case has a profile "
    "without a path",
    "evaluators.desktop.firefox_profile.is_used: *: False -> True": "no case has a process that ends between two queries",
    "evaluators.vision.screen._bounds: *: 0 -> 1": "an icon shifted by one px still matches",
    "evaluators.desktop.lz4._unpack_block: * len(out) - count": "a bomb is then rejected for its size after unpacking",
    "evaluators.phone.view.PhoneView._query: *: '\\r\\n' -> *": "no case compares a column exactly with such line ends",
    "evaluators.desktop.dav._time: *: 'Z' -> 'ZXX'": "since Python 3.11 the parser supports Z; the replacement is for guests with an older version",
}
"""Reasons why no case detects a relevant mutant; it remains a survivor."""
