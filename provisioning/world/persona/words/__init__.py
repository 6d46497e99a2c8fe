"""Names, places, products and sentences that personas are made from. Changing a list changes personas."""
