"""The sites of a world, with the state of a persona."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from images.world.program.sites import shop_store
from images.world.program.sites.application import make_application
from images.world.program.sites.shop_store import ShopStore
from provisioning.world.persona.making.life import format_cents
from provisioning.world.persona.persona import Persona, persona
from provisioning.world.state.accounts import account_files
from provisioning.world.state.archive import pack
from provisioning.world.state.shop import order_path, shop_files
from provisioning.world.state.sites import site_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage
    from pathlib import Path
    from typing import Self

ISO_CODES = {
    "3166-1": [
        {"alpha_2": "NO", "alpha_3": "NOR", "numeric": "578", "name": "Norway", "flag": "X"},
        {"alpha_2": "IS", "alpha_3": "ISL", "numeric": "352", "name": "Iceland"},
    ],
    "3166-2": [{"code": "NO-03", "name": "Oslo <city>", "type": "County"}],
    "4217": [{"alpha_3": "NOK", "numeric": "578", "name": "Norwegian Krone"}],
    "639-2": [
        {"alpha_2": "is", "alpha_3": "isl", "name": "Icelandic"},
        {"alpha_3": "ace", "name": "Achinese"},
    ],
}


class Outbox:
    """Stands in for the SMTP server of the container, which only listens there."""

    sent: list[EmailMessage]

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send_message(self, message: EmailMessage) -> None:
        self.sent.append(message)


@pytest.fixture
def someone() -> Persona:
    return persona(7)


@pytest.fixture
def state(tmp_path: Path, someone: Persona, monkeypatch: pytest.MonkeyPatch) -> Path:
    archive = pack([*shop_files(someone), *account_files(someone), *site_files(someone)])
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(tmp_path, filter="data")
    for standard, rows in ISO_CODES.items():
        (tmp_path / f"iso_{standard}.json").write_text(json.dumps({standard: rows}))
    Outbox.sent = []
    monkeypatch.setattr(shop_store.smtplib, "SMTP", Outbox)  # type: ignore[attr-defined]
    return tmp_path


@pytest.fixture
def shop(state: Path) -> Iterator[TestClient]:
    with TestClient(make_application(state, str(state)), base_url="http://shop.example") as client:
        yield client


@pytest.fixture
def wiki(state: Path) -> Iterator[TestClient]:
    with TestClient(make_application(state, str(state)), base_url="http://wiki.example") as client:
        yield client


def sign_in(shop: TestClient, someone: Persona) -> str:
    form = {"email": someone.person.email, "password": someone.person.password, "after": "/orders"}
    reply = shop.post("/sign-in", data=form)
    assert reply.status_code == 200
    return reply.text


def read_order(state: Path, number: str) -> dict[str, Any]:
    return dict(json.loads((state / order_path(number)).read_text()))


def test_products_are_found_and_shown(shop: TestClient, someone: Persona) -> None:
    books = someone.products.in_category("Books")
    text = shop.get("/search", params={"category": "Books", "sort": "cheapest"}).text
    assert f"{len(books)} products" in text
    assert text.index(
        books.where(lambda book: book.price_cents == min(b.price_cents for b in books))[0].name
    )
    product = someone.products.in_stock()[0]
    text = shop.get("/search", params={"q": product.name.lower()}).text
    assert product.number in text
    text = shop.get(f"/product/{product.number}").text
    assert format_cents(product.price_cents, someone.person.currency) in text
    assert f"{product.stock} in stock" in text
    sold_out = someone.products.where(lambda product: not product.stock)[0]
    assert "Add to cart" not in shop.get(f"/product/{sold_out.number}").text
    assert shop.get("/product/none").status_code == 404


def test_orders_need_the_password(shop: TestClient, someone: Persona) -> None:
    reply = shop.get("/orders")
    assert reply.url.path == "/sign-in"
    assert (
        "wrong" in shop.post("/sign-in", data={"email": someone.person.email, "password": "x"}).text
    )
    assert "wrong" in shop.post("/sign-in", data={"email": "", "password": ""}).text
    assert shop.post("/checkout").url.path == "/sign-in"
    text = sign_in(shop, someone)
    assert all(order.number in text for order in someone.orders)
    shop.post("/sign-out")
    assert shop.get("/orders").url.path == "/sign-in"


def test_signing_in_leads_to_no_other_site(shop: TestClient, someone: Persona) -> None:
    form = {"email": someone.person.email, "password": someone.person.password}
    for after in ("//evil.example/", "https://evil.example/"):
        reply = shop.post("/sign-in", data={**form, "after": after}, follow_redirects=False)
        assert reply.headers["location"] == "/"


def test_an_order_is_placed_confirmed_and_cancelled(
    shop: TestClient, state: Path, someone: Persona
) -> None:
    first, second = someone.products.in_stock()[:2]
    shop.post("/cart/add", data={"number": first.number, "quantity": "2"})
    shop.post("/cart/add", data={"number": second.number})
    shop.post("/cart/add", data={"number": first.number, "quantity": "1"})
    text = shop.post("/cart/change", data={"number": second.number, "quantity": "0"}).text
    assert second.name not in text
    sign_in(shop, someone)
    assert str(someone.person.home) in shop.get("/checkout").text
    reply = shop.post("/checkout")
    number = reply.url.path.rpartition("/")[2]
    order = read_order(state, number)
    assert [(line["name"], line["quantity"]) for line in order["lines"]] == [(first.name, 3)]
    assert order["total_cents"] == 3 * first.price_cents + order["shipping_cents"]
    assert order["placed"][:10] == someone.today.isoformat()
    (mail,) = Outbox.sent
    total = format_cents(order["total_cents"], someone.person.currency)
    assert (mail["Subject"], f"Total: {total}" in mail.get_content()) == (
        f"Your order {number}",
        True,
    )
    assert someone.person.email in mail["To"]
    assert "Your cart is empty." in shop.get("/cart").text
    assert number in shop.get("/orders").text
    assert "cancelled" in shop.post(f"/orders/{number}/cancel").text
    assert read_order(state, number)["status"] == "cancelled"
    assert len(Outbox.sent) == 2


def test_an_empty_cart_and_a_delivered_order_stay(
    shop: TestClient, state: Path, someone: Persona
) -> None:
    sign_in(shop, someone)
    assert shop.post("/checkout").url.path == "/cart"
    order = someone.orders.first()
    shop.post(f"/orders/{order.number}/cancel")
    assert read_order(state, order.number)["status"] == order.status
    assert Outbox.sent == []


@pytest.mark.parametrize("quantity", ["-1", "1000", "x", "", "²"])
def test_odd_quantities_add_nothing(shop: TestClient, someone: Persona, quantity: str) -> None:
    number = someone.products[0].number
    shop.post("/cart/add", data={"number": number, "quantity": quantity})
    shop.post("/cart/add", data={"number": "../accounts", "quantity": "1"})
    assert "Your cart is empty." in shop.get("/cart").text


@pytest.mark.parametrize("number", ["../catalogue", "..%2Fcatalogue", "9999-9999999"])
def test_no_other_file_is_shown_as_an_order(
    shop: TestClient, someone: Persona, number: str
) -> None:
    sign_in(shop, someone)
    assert shop.get(f"/orders/{number}").status_code == 404


def test_what_people_write_is_escaped(shop: TestClient, wiki: TestClient) -> None:
    attack = "<script>alert(1)</script>"
    assert attack not in shop.get("/search", params={"q": attack}).text
    assert attack not in shop.get("/sign-in", params={"after": attack}).text
    assert attack not in wiki.get("/search", params={"q": attack}).text


def test_the_time_of_the_shop_is_the_personas(state: Path, someone: Persona) -> None:
    assert 0 <= (ShopStore(state).now - someone.now).total_seconds() < 60


def test_articles_are_listed_found_and_linked(wiki: TestClient) -> None:
    assert "List_of_countries" in wiki.get("/").text
    text = wiki.get("/List_of_countries").text
    assert 'href="/Iceland"' in text
    text = wiki.get("/Norway").text
    assert "NOR" in text
    assert "Oslo &lt;city&gt;" in text
    assert wiki.get("/search", params={"q": "Norway"}).url.path == "/Norway"
    assert 'href="/Norway"' in wiki.get("/search", params={"q": "oslo"}).text
    text = wiki.get("/search", params={"q": "ice"}).text
    assert text.index("Iceland") < text.index("Icelandic")
    assert wiki.get("/Atlantis").status_code == 404
    assert wiki.get("/Icelandic_(language)").status_code == 200


def test_other_hosts_have_no_site(state: Path) -> None:
    client = TestClient(make_application(state, str(state)), base_url="http://other.example")
    assert client.get("/").status_code == 404
