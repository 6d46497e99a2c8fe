"""Pages of the shop."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from images.world.program.sites.pages import read_form, render

if TYPE_CHECKING:
    from starlette.requests import Request

    from images.world.program.sites.shop_store import ShopStore

_COOKIE = "session"
_FEATURED = 8
_SEE_OTHER = 303


def shop_routes(store: ShopStore) -> list[Route]:
    """Return the routes of the shop."""
    shop = _Shop(store)
    return [
        Route("/", shop.home),
        Route("/search", shop.search),
        Route("/product/{number}", shop.product),
        Route("/cart", shop.cart),
        Route("/cart/add", shop.add, methods=["POST"]),
        Route("/cart/change", shop.change, methods=["POST"]),
        Route("/checkout", shop.checkout),
        Route("/checkout", shop.place, methods=["POST"]),
        Route("/orders", shop.orders),
        Route("/orders/{number}", shop.order),
        Route("/orders/{number}/cancel", shop.cancel, methods=["POST"]),
        Route("/sign-in", shop.sign_in_form),
        Route("/sign-in", shop.sign_in, methods=["POST"]),
        Route("/sign-out", shop.sign_out, methods=["POST"]),
    ]


class _Shop:
    """The pages; those with the customer's data need a session."""

    def __init__(self, store: ShopStore) -> None:
        self._store = store
        self._session = secrets.token_urlsafe(24)

    async def home(self, request: Request) -> Response:
        popular = [product for product in self._store.search("", order="rating") if product.stock]
        return self._page(request, "shop_home.html", popular=popular[:_FEATURED])

    async def search(self, request: Request) -> Response:
        asked = {key: request.query_params.get(key, "") for key in ("q", "category", "sort")}
        found = self._store.search(asked["q"], asked["category"], asked["sort"])
        return self._page(request, "shop_search.html", found=found, asked=asked)

    async def product(self, request: Request) -> Response:
        product = self._store.product(request.path_params["number"])
        if product is None:
            return self._missing(request)
        return self._page(request, "shop_product.html", product=product)

    async def cart(self, request: Request) -> Response:
        return self._page(request, "shop_cart.html", **self._cart_values())

    async def add(self, request: Request) -> Response:
        form = await read_form(request)
        self._store.put_in_cart(form.get("number", ""), _count(form, "1"), is_more=True)
        return RedirectResponse("/cart", _SEE_OTHER)

    async def change(self, request: Request) -> Response:
        form = await read_form(request)
        self._store.put_in_cart(form.get("number", ""), _count(form, "0"))
        return RedirectResponse("/cart", _SEE_OTHER)

    async def checkout(self, request: Request) -> Response:
        if not self._is_signed_in(request):
            return self._ask_to_sign_in(request)
        return self._page(request, "shop_checkout.html", **self._cart_values())

    async def place(self, request: Request) -> Response:
        if not self._is_signed_in(request):
            return self._ask_to_sign_in(request)
        number = await run_in_threadpool(self._store.place_order)
        return RedirectResponse(f"/orders/{number}" if number else "/cart", _SEE_OTHER)

    async def orders(self, request: Request) -> Response:
        if not self._is_signed_in(request):
            return self._ask_to_sign_in(request)
        return self._page(request, "shop_orders.html", orders=self._store.orders())

    async def order(self, request: Request) -> Response:
        if not self._is_signed_in(request):
            return self._ask_to_sign_in(request)
        order = self._store.order(request.path_params["number"])
        if order is None:
            return self._missing(request)
        return self._page(request, "shop_order.html", order=order)

    async def cancel(self, request: Request) -> Response:
        if not self._is_signed_in(request):
            return self._ask_to_sign_in(request)
        number = request.path_params["number"]
        await run_in_threadpool(self._store.cancel, number)
        return RedirectResponse(f"/orders/{quote(number)}", _SEE_OTHER)

    async def sign_in_form(self, request: Request) -> Response:
        after = request.query_params.get("after", "/")
        return self._page(request, "shop_sign_in.html", after=after, is_wrong=False)

    async def sign_in(self, request: Request) -> Response:
        form = await read_form(request)
        after = form.get("after", "/")
        if not self._store.is_password(form.get("email", ""), form.get("password", "")):
            return self._page(request, "shop_sign_in.html", 403, after=after, is_wrong=True)
        is_own = after.startswith("/") and not after.startswith("//")
        reply = RedirectResponse(after if is_own else "/", _SEE_OTHER)
        reply.set_cookie(_COOKIE, self._session, httponly=True, samesite="lax")
        return reply

    async def sign_out(self, request: Request) -> Response:
        del request
        reply = RedirectResponse("/", _SEE_OTHER)
        reply.delete_cookie(_COOKIE)
        return reply

    def _is_signed_in(self, request: Request) -> bool:
        shown = request.cookies.get(_COOKIE, "")
        return hmac.compare_digest(shown.encode(), self._session.encode())

    def _ask_to_sign_in(self, request: Request) -> Response:
        return RedirectResponse(f"/sign-in?after={quote(request.url.path)}", _SEE_OTHER)

    def _missing(self, request: Request) -> Response:
        return self._page(request, "shop_missing.html", 404)

    def _cart_values(self) -> dict[str, object]:
        store = self._store
        rows = [(store.product(number), count) for number, count in store.cart().items()]
        known = [(product, count) for product, count in rows if product is not None]
        goods = sum(product.price_cents * count for product, count in known)
        shipping = store.shipping_cents(goods)
        return {"rows": known, "goods": goods, "shipping": shipping, "total": goods + shipping}

    def _page(
        self, request: Request, template: str, status: int = 200, /, **values: object
    ) -> Response:
        store = self._store
        return render(
            template,
            status,
            shop=store,
            price=store.format,
            count=sum(store.cart().values()),
            is_signed_in=self._is_signed_in(request),
            **values,
        )


def _count(form: dict[str, str], default: str) -> int:
    """Return the quantity in a form; 0 for anything but digits."""
    text = form.get("quantity", default)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0  # noqa: PLR2004 - three digits
