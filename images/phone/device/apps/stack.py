"""The open activities: one task per application, each with its back stack."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Entry:
    """One open activity.

    Attributes:
        activity: class name, as in a component name.
        arguments: arguments of the activity.
        state: displayed state: fields, focus, scroll offsets and screen-specific data.
    """

    activity: str
    arguments: Json = field(default_factory=dict)
    state: Json = field(default_factory=dict)


@dataclass
class AppTask:
    """The open activities of one application, the foreground one last."""

    task_id: int
    package: str
    entries: list[Entry]


@dataclass
class Stack:
    """All open applications, the foreground one last.

    Attributes:
        tasks: open tasks, at least the launcher's.
        next_id: ID of the next task.
        toast: short message that is shown until the next input.
        last_toast: most recent message, still shown or not.
        is_shade_open: whether the notification shade is open.
    """

    tasks: list[AppTask]
    next_id: int
    toast: str = ""
    last_toast: str = ""
    is_shade_open: bool = False

    @classmethod
    def of_home(cls, package: str, activity: str) -> Stack:
        """Return the stack of a newly booted phone."""
        return cls([AppTask(1, package, [Entry(activity)])], 2)

    @property
    def front(self) -> AppTask:
        """The foreground task."""
        return self.tasks[-1]

    @property
    def top(self) -> Entry:
        """The foreground activity."""
        return self.front.entries[-1]

    def find(self, package: str) -> AppTask | None:
        """Return the task of an application; None if it is not open."""
        return next((task for task in self.tasks if task.package == package), None)

    def bring(self, package: str) -> bool:
        """Bring an open application to the foreground; return False if it is not open."""
        task = self.find(package)
        if task is None:
            return False
        self.tasks.remove(task)
        self.tasks.append(task)
        return True

    def open_task(self, package: str, entry: Entry) -> None:
        """Open an application in the foreground, or bring it there in its current state."""
        if not self.bring(package):
            self.tasks.append(AppTask(self.next_id, package, [entry]))
            self.next_id += 1

    def push(self, package: str, entry: Entry) -> None:
        """Open an activity on top of the others of its application."""
        if self.bring(package):
            self.front.entries.append(entry)
        else:
            self.open_task(package, entry)

    def pop(self) -> None:
        """Close the foreground activity, and its application if it was the last."""
        self.front.entries.pop()
        if not self.front.entries:
            self.tasks.pop()

    def remove(self, package: str) -> bool:
        """Close an application; return False if it was not open."""
        task = self.find(package)
        if task is None:
            return False
        self.tasks.remove(task)
        return True

    def to_json(self) -> str:
        """Return the stack as a JSON document."""
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
        """Parse a saved document."""
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
