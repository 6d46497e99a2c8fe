"""Catalogue, cart and orders of the shop, as files of the state."""

from __future__ import annotations

import json
import os
import re
import smtplib
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_HOST = "shop.example"
_SMTP = ("127.0.0.1", 2525)
_NUMBER = re.compile(r"[0-9]{4}-[0-9]{7}", re.ASCII)
_FIRST_NEW_ORDER = 8_000_000
MAX_QUANTITY = 99


@dataclass(frozen=True)
class Product:
    """A product; the fields are those of the persona's record."""

    id: str
    number: str
    name: str
    brand: str
    category: str
    price_cents: int
    rating_tenths: int
    stock: int
    description: str


class ShopStore:
    """The shop's data; one process writes it.

    Args:
        state: folder with the world's state.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / "sites" / "shop"
        self._accounts = state / "accounts"
        self._lock = threading.Lock()
        about = json.loads((self._folder / "catalogue.json").read_text())
        self.name: str = about["name"]
        self.email: str = about["email"]
        self.currency: str = about["currency"]
        self.free_shipping_cents: int = about["free_shipping_cents"]
        self._shipping_cents: int = about["shipping_cents"]
        self.customer: dict[str, str] = about["customer"]
        self.products = [Product(**row) for row in about["products"]]
        self._by_number = {product.number: product for product in self.products}
        self._start = datetime.fromisoformat(about["now"])
        self._started_s = time.monotonic()

    @property
    def now(self) -> datetime:
        """Return the time in the world: the persona's present, and what passed since it was filled."""
        return self._start + timedelta(seconds=int(time.monotonic() - self._started_s))

    @property
    def categories(self) -> list[str]:
        """Return the names of the categories."""
        return sorted({product.category for product in self.products})

    def product(self, number: str) -> Product | None:
        """Return the product with a number; None if there is none."""
        return self._by_number.get(number)

    def search(self, words: str, category: str = "", order: str = "") -> list[Product]:
        """Return the products that have all words, in an order such as ``cheapest``."""
        wanted = words.casefold().split()
        found = [
            product
            for product in self.products
            if category in {"", product.category}
            and all(word in f"{product.name} {product.description}".casefold() for word in wanted)
        ]
        keys = {
            "cheapest": lambda product: (product.price_cents, product.name),
            "dearest": lambda product: (-product.price_cents, product.name),
            "rating": lambda product: (-product.rating_tenths, product.name),
        }
        return sorted(found, key=keys.get(order, lambda product: product.name))

    def is_password(self, email: str, password: str) -> bool:
        """Return whether somebody may sign in, by the account that all servers share."""
        line = f"{email.strip().lower()}:{password}"
        return ":" in line and line in self._accounts.read_text().splitlines()

    def cart(self) -> dict[str, int]:
        """Return quantities by product number."""
        return dict(json.loads((self._folder / "cart.json").read_text()))

    def put_in_cart(self, number: str, quantity: int, *, is_more: bool = False) -> None:
        """Set the quantity of a product, or add to it; 0 removes it."""
        if number not in self._by_number:
            return
        with self._lock:
            cart = self.cart()
            quantity += cart.get(number, 0) if is_more else 0
            cart[number] = min(max(quantity, 0), MAX_QUANTITY)
            self._write("cart.json", {key: count for key, count in cart.items() if count})

    def orders(self) -> list[dict[str, Any]]:
        """Return all orders, the latest first."""
        found = [json.loads(path.read_text()) for path in (self._folder / "orders").glob("*.json")]
        return sorted(found, key=lambda order: (order["placed"], order["number"]), reverse=True)

    def order(self, number: str) -> dict[str, Any] | None:
        """Return the order with a number; None if there is none."""
        path = self._folder / "orders" / f"{number}.json"
        if not _NUMBER.fullmatch(number) or not path.is_file():
            return None
        return dict(json.loads(path.read_text()))

    def shipping_cents(self, goods_cents: int) -> int:
        """Return what shipping costs for goods of a value."""
        return 0 if goods_cents >= self.free_shipping_cents else self._shipping_cents

    def place_order(self, items: dict[str, int] | None = None) -> str:
        """Order what is in the cart, confirm it by mail, and return its number; empty without goods.

        Args:
            items: quantities by product number, in place of the cart, which then stays.
        """
        with self._lock:
            asked = self.cart() if items is None else items
            lines = [self._line(number, count) for number, count in asked.items()]
            if not lines:
                return ""
            goods = sum(line["quantity"] * line["price_cents"] for line in lines)
            now = self.now
            count = len(list((self._folder / "orders").glob("*.json")))
            number = f"{now:%y%m}-{_FIRST_NEW_ORDER + count}"
            shipping = self.shipping_cents(goods)
            order = {
                "number": number,
                "placed": now.isoformat(),
                "lines": lines,
                "shipping_cents": shipping,
                "total_cents": goods + shipping,
                "status": "processing",
                "delivered": None,
                "address": self.customer["address"],
            }
            self._write(f"orders/{number}.json", order)
            if items is None:
                self._write("cart.json", {})
        rows = [
            f"{line['quantity']} x {line['name']}: "
            f"{self.format(line['quantity'] * line['price_cents'])}"
            for line in lines
        ]
        total = f"Shipping: {self.format(shipping)}\nTotal: {self.format(goods + shipping)}"
        text = "\n".join([f"thank you for your order {number}.\n", *rows, total, ""])
        text += f"\nWe deliver to: {self.customer['address']}"
        self._send(f"Your order {number}", text)
        return number

    def cancel(self, number: str) -> bool:
        """Cancel an order that is not yet on its way, and confirm it by mail."""
        with self._lock:
            order = self.order(number)
            if order is None or order["status"] != "processing":
                return False
            self._write(f"orders/{number}.json", {**order, "status": "cancelled"})
        self._send(
            f"Order {number} cancelled",
            "your order was cancelled. Nothing was charged to your card.",
        )
        return True

    def set_status(self, number: str, status: str) -> None:
        """Set the state of an existing order, without a mail."""
        with self._lock:
            if (order := self.order(number)) is not None:
                delivered = self.now.date().isoformat() if status == "delivered" else None
                changes = {"status": status, "delivered": delivered}
                self._write(f"orders/{number}.json", {**order, **changes})

    def format(self, cents: int) -> str:
        """Return a price as text."""
        return f"{cents // 100}.{cents % 100:02d} {self.currency}"

    def _line(self, number: str, quantity: int) -> dict[str, Any]:
        product = self._by_number[number]
        return {
            "product": product.id,
            "number": number,
            "name": product.name,
            "quantity": quantity,
            "price_cents": product.price_cents,
        }

    def _write(self, name: str, value: object) -> None:
        """Replace a file of the shop at once."""
        path = self._folder / name
        part = path.with_suffix(".part")
        part.write_text(json.dumps(value, indent=1, sort_keys=True))
        os.chmod(part, 0o600)  # noqa: PTH101 - as the files that it was filled with
        part.replace(path)

    def _send(self, subject: str, text: str) -> None:
        message = EmailMessage()
        message["From"] = f"{self.name} <{self.email}>"
        message["To"] = f"{self.customer['name']} <{self.customer['email']}>"
        message["Subject"] = subject
        message["Date"] = format_datetime(self.now)
        message.set_content(f"Hello {self.customer['given']},\n\n{text}\n\nYour {self.name}\n")
        with smtplib.SMTP(*_SMTP, local_hostname=_HOST, timeout=10) as server:
            server.send_message(message)
