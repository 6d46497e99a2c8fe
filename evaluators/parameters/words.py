"""Names and words from which values are drawn. Changing a list changes the values for every seed."""

from __future__ import annotations

FIRST_NAMES = (
    "Ada", "Aiko", "Amara", "Anton", "Beatriz", "Bruno", "Carla", "Cedric", "Chidi", "Clara",
    "Daniel", "Daria", "Elena", "Emil", "Farid", "Fiona", "Gustav", "Hana", "Helena", "Hugo",
    "Ines", "Ivan", "Jamal", "Jana", "Jonas", "Julia", "Kamal", "Katrin", "Lars", "Leila",
    "Luca", "Maja", "Marco", "Maren", "Mei", "Milan", "Mira", "Nadia", "Nils", "Noor",
    "Olga", "Omar", "Paula", "Pedro", "Petra", "Rafael", "Rania", "Robin", "Rosa", "Samir",
    "Sara", "Simon", "Sofia", "Sven", "Tara", "Thea", "Tomas", "Vera", "Victor", "Yuki",
)  # fmt: skip
LAST_NAMES = (
    "Abe", "Almeida", "Andersen", "Bauer", "Becker", "Bianchi", "Brandt", "Carvalho", "Castro",
    "Cohen", "Costa", "Diallo", "Dupont", "Eriksen", "Farah", "Fischer", "Fontana", "Garcia",
    "Gruber", "Haddad", "Hansen", "Horvat", "Ibrahim", "Ivanova", "Jansen", "Keller", "Kimura",
    "Kovacs", "Kowalski", "Larsen", "Lehmann", "Lindberg", "Lopez", "Marino", "Meyer", "Mori",
    "Moreau", "Nakamura", "Novak", "Okafor", "Oliveira", "Olsen", "Petrov", "Popescu", "Rahman",
    "Ricci", "Rossi", "Sato", "Schmid", "Silva", "Suzuki", "Tanaka", "Torres", "Varga", "Vidal",
    "Virtanen", "Weber", "Winter", "Yilmaz", "Zimmer",
)  # fmt: skip
WORDS = (
    "amber", "anchor", "apple", "arrow", "autumn", "bakery", "barley", "basket", "beacon", "birch",
    "blanket", "bottle", "bridge", "bronze", "button", "cabin", "candle", "canvas", "carpet",
    "castle", "cedar", "chalk", "cherry", "circle", "clover", "cobalt", "copper", "coral",
    "cotton", "cradle", "cricket", "crystal", "curtain", "daisy", "desert", "dragon", "eagle",
    "ember", "engine", "fabric", "falcon", "feather", "fiddle", "forest", "fossil", "garden",
    "garlic", "ginger", "glacier", "granite", "hammer", "harbor", "hazel", "helmet", "honey",
    "island", "ivory", "jacket", "jungle", "kettle", "ladder", "lantern", "lemon", "lilac",
    "linen", "lobster", "magnet", "maple", "marble", "meadow", "mirror", "mosaic", "muffin",
    "needle", "nickel", "nutmeg", "oasis", "olive", "orchid", "oyster", "paddle", "pebble",
    "pepper", "pigeon", "pillow", "planet", "pocket", "prairie", "quartz", "rabbit", "ribbon",
    "river", "saddle", "salmon", "sand", "satin", "shadow", "silver", "spiral", "spruce", "summit",
    "temple", "thistle", "thunder", "timber", "tulip", "tunnel", "velvet", "violet", "walnut",
    "willow", "window", "winter", "zephyr",
)  # fmt: skip
