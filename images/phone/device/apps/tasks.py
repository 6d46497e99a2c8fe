"""The Tasks application: a to-do list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.screen import Screen
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, View

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_EDIT = "com.google.android.apps.tasks.ui.TaskActivity"


def list_tasks(screen: Screen, *, completed: bool) -> list[Row]:
    """Return the open or completed tasks, newest first."""
    return screen.store.rows(
        "SELECT * FROM task WHERE completed=? ORDER BY _id DESC", (int(completed),)
    )


def mark(screen: Screen, row: Row, *, completed: bool) -> None:
    """Mark a task as completed, or as open."""
    screen.store.change("UPDATE task SET completed=? WHERE _id=?", (int(completed), row["_id"]))
    screen.toast("Task completed" if completed else "Task marked as not completed")


class TaskListScreen(Screen):
    """All tasks, with a panel at the bottom for new ones."""

    activity = "com.google.android.apps.tasks.ui.TaskListsActivity"

    def content(self) -> View:
        """Show open tasks, then the completed ones if they are expanded."""
        rows = [self._row(row) for row in list_tasks(self, completed=False)]
        done = list_tasks(self, completed=True)
        if not rows:
            caption = "All tasks completed" if done else "No tasks yet"
            rows = [self._empty(caption)]
        if done:
            rows.append(self._fold(len(done)))
            if self.state.get("unfolded"):
                rows += [self._row(row) for row in done]
        listed = self.widgets.list_of(
            "tasks_list", rows, self.offset("tasks_list"), bottom_px=dp(88)
        )
        body = self.widgets.column(self.widgets.bar("My Tasks"), listed)
        add = self.widgets.floating_button("Create new task", self._begin, name="tasks_fab")
        return View("FrameLayout", children=[body, add], flow=Flow.STACK)

    def dialog(self) -> View | None:
        """Show the panel for a new task."""
        if not self.state.get("adding"):
            return None
        title = self.field("add_task_title", hint="New task", framed=False)
        notes = self.field("add_task_details", hint="Add details", framed=False)
        save = self.widgets.button("Save", self._save, name="add_task_done")
        push = View(weight=1, is_silent=True)
        buttons = self.widgets.row(push, save, height_px=dp(56))
        return self.widgets.dialog(
            title, notes, buttons, at_bottom=True, on_outside=self.act(self.back)
        )

    def back(self) -> bool:
        """Close the panel."""
        if not self.state.pop("adding", False):
            return False
        for name in ("add_task_title", "add_task_details"):
            self.drop_field(name)
        return True

    def submit(self, name: str) -> None:
        """Save the new task."""
        if name in {"add_task_title", "add_task_details"}:
            self._save()

    def _begin(self) -> None:
        self.state["adding"] = True
        self.focus("add_task_title")

    def _save(self) -> None:
        title = self.field_text("add_task_title").strip()
        if title:
            self.store.insert(
                "INSERT INTO task (title, notes) VALUES (?, ?)",
                (title, self.field_text("add_task_details").strip()),
            )
        self.back()

    def _empty(self, caption: str) -> View:
        icon = self.widgets.icon("tasks", size_px=dp(72), ink=self.host.theme.line)
        icon.height_px = dp(160)
        text = self.widgets.text(caption, "empty_tasks_title", centered=True)
        return self.widgets.column(icon, text, padding_px=(0, dp(120), 0, dp(40)))

    def _fold(self, count: int) -> View:
        is_open = bool(self.state.get("unfolded"))
        row = self.widgets.item(
            f"Completed ({count})",
            names=("completed_tasks_header", ""),
            on_tap=self.set(unfolded=not is_open),
            trailing=self.widgets.icon("collapse" if is_open else "expand").sized(dp(24)),
        )
        row.label = "Collapse completed tasks" if is_open else "Expand completed tasks"
        return row

    def _row(self, row: Row) -> View:
        theme, done = self.host.theme, bool(row["completed"])
        check = self.widgets.icon_button(
            "check_circle" if done else "circle",
            "Mark as not complete" if done else "Mark as complete",
            self.act(lambda: mark(self, row, completed=not done)),
            name="task_completed_checkbox",
            ink=theme.primary if done else theme.ink_soft,
        )
        check.traits.checkable, check.traits.checked = True, done
        view = self.widgets.item(
            row["title"],
            summary=row["notes"],
            names=("task_name", "task_details"),
            on_tap=self.act(lambda: self._edit(row)),
        )
        if done:
            view.children[0].children[0].styled(ink=theme.ink_soft, strike=True)
        view.children.insert(0, check)
        view.padding_px = (dp(4), dp(4), dp(16), dp(4))
        view.gap_px = dp(4)
        return view

    def _edit(self, row: Row) -> None:
        fields = {
            name: {"text": row[column], "caret": len(row[column])}
            for name, column in (("edit_title", "title"), ("edit_details", "notes"))
        }
        self.open(_EDIT, {"fields": fields}, task=row["_id"])


class TaskScreen(Screen):
    """One task, to edit, complete or delete."""

    activity = _EDIT

    def content(self) -> View:
        """Show the fields of the task."""
        delete = self.widgets.icon_button("delete", "Delete task", self._delete, name="delete_task")
        bar = self.widgets.bar("", on_back=self.act(self.back_and_close), actions=(delete,))
        row = self._task()
        done = bool(row and row["completed"])
        title = self.field("edit_title", hint="Enter title", framed=False)
        title.look.size_px = dp(24)
        title.look.max_lines = 4
        notes = self.field("edit_details", hint="Add details", framed=False)
        notes.look.max_lines = 12
        notes_row = self.widgets.row(self.widgets.icon("notes").sized(dp(24)), notes)
        notes_row.padding_px = (dp(16), dp(8), 0, dp(8))
        notes.weight = 1
        caption = "Mark uncompleted" if done else "Mark completed"
        button = self.widgets.button(
            caption, self.act(lambda: self._toggle(done=done)), name="mark_complete_button"
        )
        footer = self.widgets.row(View(weight=1, is_silent=True), button, height_px=dp(72))
        footer.padding_px = (0, 0, dp(8), 0)
        filler = View(weight=1, is_silent=True)
        return self.widgets.column(bar, title, notes_row, filler, self.widgets.line(), footer)

    def back(self) -> bool:
        """Save changes, then close."""
        self._keep()
        return False

    def submit(self, name: str) -> None:
        """Save changes."""
        self._keep()
        if name == "edit_title":
            self.focus("edit_details")

    def back_and_close(self) -> None:
        """Handle the back arrow at the top."""
        self._keep()
        self.finish()

    def _task(self) -> Row | None:
        rows = self.store.rows("SELECT * FROM task WHERE _id=?", (self.entry.arguments["task"],))
        return rows[0] if rows else None

    def _keep(self) -> None:
        title = self.field_text("edit_title").strip()
        if title:
            self.store.change(
                "UPDATE task SET title=?, notes=? WHERE _id=?",
                (title, self.field_text("edit_details").strip(), self.entry.arguments["task"]),
            )

    def _toggle(self, *, done: bool) -> None:
        self._keep()
        row = self._task()
        if row is not None:
            mark(self, row, completed=not done)
        self.finish()

    def _delete(self) -> None:
        self.store.change("DELETE FROM task WHERE _id=?", (self.entry.arguments["task"],))
        self.toast("Task deleted")
        self.finish()
