from __future__ import annotations

import pytest

from provisioning.resource import ResourceSpec


def test_equal_specifications_have_one_key_without_spaces() -> None:
    one = ResourceSpec("shop", "v2", {"name": "a b", "seed": 1})
    other = ResourceSpec("shop", "v2", {"seed": 1, "name": "a b"})
    assert (one, hash(one), one.key) == (other, hash(other), other.key)
    assert one.key == 'shop:v2{"name":"a\\u0020b","seed":1}'
    assert str(ResourceSpec("desktop")) == "desktop"


def test_every_difference_is_in_the_key() -> None:
    specs = [
        ResourceSpec("shop"),
        ResourceSpec("shop", "v2"),
        ResourceSpec("shop", parameters={"seed": 1}),
        ResourceSpec("shop", parameters={"seed": "1"}),
        ResourceSpec("shop", "v2", {"seed": 1}),
        ResourceSpec("mail"),
    ]
    assert len({spec.key for spec in specs}) == len(set(specs)) == len(specs)


@pytest.mark.parametrize(
    ("offered", "needed", "is_met"),
    [
        (ResourceSpec("desktop"), ResourceSpec("desktop"), True),
        (ResourceSpec("desktop", "debian-12"), ResourceSpec("desktop"), True),
        (ResourceSpec("desktop"), ResourceSpec("desktop", "debian-12"), False),
        (ResourceSpec("desktop"), ResourceSpec("phone"), False),
        (ResourceSpec("s", "", {"a": 1, "b": 2}), ResourceSpec("s", "", {"a": 1}), True),
        (ResourceSpec("s", "", {"a": 2}), ResourceSpec("s", "", {"a": 1}), False),
    ],
)
def test_a_resource_meets_what_it_has(
    offered: ResourceSpec, needed: ResourceSpec, is_met: bool
) -> None:
    assert offered.meets(needed) is is_met
