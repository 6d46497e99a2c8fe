"""The open activities: one task an application, each with its back stack."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Entry:
    """One open activity.

    Attributes:
        activity: its class name, as in a component name.
        arguments: what it was opened with.
        state: what it shows: fields, focus, scroll offsets and its own.
    """

    activity: str
    arguments: Json = field(default_factory=dict)
    state: Json = field(default_factory=dict)


@dataclass
class AppTask:
    """The open activities of one application, the one in front last."""

    task_id: int
    package: str
    entries: list[Entry]


@dataclass
class Stack:
    """All open applications, the one in front last.

    Attributes:
        tasks: at least the launcher's.
        next_id: of the next task.
        toast: a short message that shows until the next input.
        last_toast: the message that was shown last, gone or not.
        is_shade_open: the notifications are pulled down.
    """

    tasks: list[AppTask]
    next_id: int
    toast: str = ""
    last_toast: str = ""
    is_shade_open: bool = False

    @classmethod
    def of_home(cls, package: str, activity: str) -> Stack:
        """Return the stack of a phone that was just switched on."""
        return cls([AppTask(1, package, [Entry(activity)])], 2)

    @property
    def front(self) -> AppTask:
        """The task in front."""
        return self.tasks[-1]

    @property
    def top(self) -> Entry:
        """The activity in front."""
        return self.front.entries[-1]

    def find(self, package: str) -> AppTask | None:
        """Return the task of an application; None when it is not open."""
        return next((task for task in self.tasks if task.package == package), None)

    def bring(self, package: str) -> bool:
        """Bring an open application to the front; False when it is not open."""
        task = self.find(package)
        if task is None:
            return False
        self.tasks.remove(task)
        self.tasks.append(task)
        return True

    def open_task(self, package: str, entry: Entry) -> None:
        """Open an application in front, or bring it there as it was."""
        if not self.bring(package):
            self.tasks.append(AppTask(self.next_id, package, [entry]))
            self.next_id += 1

    def push(self, package: str, entry: Entry) -> None:
        """Open an activity in front of all others of its application."""
        if self.bring(package):
            self.front.entries.append(entry)
        else:
            self.open_task(package, entry)

    def pop(self) -> None:
        """Close the activity in front; its application too, when it was the last."""
        self.front.entries.pop()
        if not self.front.entries:
            self.tasks.pop()

    def remove(self, package: str) -> bool:
        """Close an application; False when it was not open."""
        task = self.find(package)
        if task is None:
            return False
        self.tasks.remove(task)
        return True

    def to_json(self) -> str:
        """Return the stack as a document to save."""
        document = {
            "tasks": [
                {
                    "id": task.task_id,
                    "package": task.package,
                    "entries": [
                        [entry.activity, entry.arguments, entry.state] for entry in task.entries
                    ],
                }
                for task in self.tasks
            ],
            "next_id": self.next_id,
            "toast": self.toast,
            "last_toast": self.last_toast,
            "shade": self.is_shade_open,
        }
        return json.dumps(document, sort_keys=True)

    @classmethod
    def from_json(cls, document: Json) -> Stack:
        """Read a saved document."""
        tasks = [
            AppTask(
                int(task["id"]),
                str(task["package"]),
                [Entry(*entry) for entry in task["entries"]],
            )
            for task in document["tasks"]
        ]
        return cls(
            tasks,
            int(document["next_id"]),
            str(document["toast"]),
            str(document.get("last_toast", "")),
            bool(document.get("shade", False)),
        )
