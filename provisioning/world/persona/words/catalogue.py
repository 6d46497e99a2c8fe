"""What the shop sells. Brands are composed for each persona."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    """A category of the shop.

    Attributes:
        name: its name.
        low_cents: lowest price of a product.
        high_cents: highest price of a product.
        things: what is sold.
        variants: what distinguishes products of one brand.
        uses: what the description praises.
    """

    name: str
    low_cents: int
    high_cents: int
    things: tuple[str, ...]
    variants: tuple[str, ...]
    uses: tuple[str, ...]


CATEGORIES = (
    Category(
        "Kitchen", 690, 18900,
        ("Kettle", "Toaster", "Frying Pan", "Chef's Knife", "Stand Mixer", "Coffee Grinder",
         "Salad Bowl", "Measuring Jug", "Casserole", "Hand Blender", "Cutting Board", "Egg Timer"),
        ("Classic", "Compact", "Pro", "1.7 l", "24 cm", "28 cm", "Steel", "Matt Black", "Set of 2"),
        ("quick breakfasts", "large families", "small kitchens", "everyday cooking"),
    ),
    Category(
        "Books", 490, 4200,
        ("Atlas of Rivers", "Bread at Home", "The Quiet Harbour", "Learning to Sail",
         "A History of Clocks", "Birds of the Coast", "The Last Orchard", "Cooking for Two",
         "Letters from the North", "Garden Calendar", "Chess for Beginners", "The Glass Bridge"),
        ("Paperback", "Hardcover", "Illustrated Edition", "Pocket Edition", "2nd Edition"),
        ("long evenings", "curious readers", "a weekend away", "giving as a present"),
    ),
    Category(
        "Electronics", 990, 89900,
        ("Headphones", "Bluetooth Speaker", "USB-C Charger", "Power Bank", "Webcam", "Monitor",
         "Keyboard", "Mouse", "Tablet", "E-Reader", "Memory Card", "Router"),
        ("Mini", "Max", "S2", "S3", "65 W", "128 GB", "256 GB", "27 inch", "Wireless"),
        ("working from home", "travelling light", "clear calls", "watching films"),
    ),
    Category(
        "Garden", 350, 24900,
        ("Watering Can", "Pruning Shears", "Garden Hose", "Lawn Mower", "Bird Feeder", "Rake",
         "Planter", "Compost Bin", "Garden Bench", "Wheelbarrow", "Seed Mix", "Solar Lamp"),
        ("10 l", "25 m", "Oak", "Galvanised", "Foldable", "Meadow", "Large", "Small"),
        ("balconies", "shady corners", "vegetable beds", "tired lawns"),
    ),
    Category(
        "Sports", 790, 59900,
        ("Running Shoes", "Yoga Mat", "Bicycle Helmet", "Football", "Tennis Racket", "Backpack",
         "Tent", "Sleeping Bag", "Water Bottle", "Skipping Rope", "Swimming Goggles", "Bike Light"),
        ("Size S", "Size M", "Size L", "Junior", "Trail", "Road", "30 l", "2-Person", "0.75 l"),
        ("early mornings", "wet weather", "long tours", "the first steps"),
    ),
    Category(
        "Clothing", 690, 21900,
        ("Rain Jacket", "Wool Jumper", "Cotton Shirt", "Linen Trousers", "Winter Coat", "Scarf",
         "Leather Belt", "Wool Socks", "Summer Hat", "Cardigan", "Denim Jacket", "Gloves"),
        ("Navy", "Olive", "Grey", "Burgundy", "Size S", "Size M", "Size L", "Size XL"),
        ("cold offices", "walks by the sea", "every day", "smart occasions"),
    ),
    Category(
        "Toys", 490, 12900,
        ("Wooden Train", "Puzzle", "Board Game", "Building Bricks", "Plush Bear", "Kite",
         "Watercolour Set", "Toy Kitchen", "Marble Run", "Card Game", "Dinosaur Set", "Telescope"),
        ("500 Pieces", "1000 Pieces", "Starter Set", "Deluxe", "Ages 3+", "Ages 6+", "Ages 10+"),
        ("rainy days", "birthday parties", "small builders", "the whole family"),
    ),
    Category(
        "Office", 190, 44900,
        ("Notebook", "Desk Lamp", "Office Chair", "Stapler", "Fountain Pen", "Document Folder",
         "Whiteboard", "Paper Shredder", "Desk Organiser", "Label Printer", "Ink Cartridge",
         "Footrest"),
        ("A4", "A5", "Black", "White", "Ergo", "Pack of 5", "Pack of 10", "Refill"),
        ("tidy desks", "long meetings", "home offices", "neat files"),
    ),
    Category(
        "Pets", 290, 9900,
        ("Dog Bed", "Cat Tree", "Dog Lead", "Bird Cage", "Fish Food", "Cat Litter", "Chew Bone",
         "Pet Brush", "Travel Box", "Feeding Bowl", "Aquarium Pump", "Rabbit Hutch"),
        ("Small", "Medium", "Large", "2 kg", "5 kg", "Soft", "Blue", "Duo"),
        ("sensitive noses", "restless nights", "muddy walks", "older animals"),
    ),
    Category(
        "Health", 290, 15900,
        ("Electric Toothbrush", "Bathroom Scale", "First Aid Kit", "Thermometer", "Sun Cream",
         "Hair Dryer", "Massage Ball", "Vitamin Tablets", "Hand Cream", "Blood Pressure Monitor",
         "Heating Pad", "Razor"),
        ("Family Pack", "Travel", "Sensitive", "SPF 50", "Plus", "Refill", "Twin Pack"),
        ("dry skin", "the holidays", "a good night", "the whole family"),
    ),
)  # fmt: skip

BRAND_STARTS = (
    "Al", "Bel", "Cor", "Dal", "El", "Fen", "Gar", "Hal", "Il", "Jor", "Kel", "Lum", "Mor", "Nor",
    "Or", "Pel", "Quin", "Ros", "Sol", "Tal", "Ul", "Ver", "Wil", "Yor", "Zel",
)  # fmt: skip
BRAND_MIDDLES = ("", "a", "e", "i", "o", "an", "en", "in", "ar", "er", "il", "and", "est", "ist")
BRAND_ENDS = (
    "bury", "da", "dane", "den", "fort", "ia", "ka", "la", "lin", "mark", "na", "nex", "pa", "rix",
    "ro", "son", "ta", "tec", "to", "va", "vo", "wick", "zo",
)  # fmt: skip
BUSINESSES = (
    "Logistics", "Engineering", "Software", "Insurance", "Energy", "Foods", "Textiles", "Publishing",
    "Architects", "Biotech", "Railways", "Instruments",
)  # fmt: skip
