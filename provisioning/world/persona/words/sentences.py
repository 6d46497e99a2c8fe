"""Sentences that correspondence is made of. ``{...}`` is filled in."""

from __future__ import annotations

JOBS = (
    "Accountant", "Project Manager", "Software Developer", "Product Designer", "Buyer",
    "Quality Engineer", "Marketing Manager", "Data Analyst", "Office Manager", "Technical Writer",
    "Sales Representative", "HR Partner", "Lab Technician", "Planner", "Architect",
)  # fmt: skip
DEPARTMENTS = ("Finance", "Operations", "Product", "Sales", "Research", "People", "Support")
PROJECTS = (
    "warehouse move", "spring catalogue", "customer survey", "supplier audit", "intranet relaunch",
    "budget 2.0", "training week", "field trial", "office refurbishment", "pricing review",
    "annual report", "partner portal", "safety course", "packaging redesign", "hiring round",
    "trade fair stand", "returns process", "newsletter revamp", "archive clean-up", "open day",
)  # fmt: skip
WORK_THINGS = (
    "first draft", "open questions", "timeline", "cost estimate", "minutes", "risk list",
    "feedback round", "presentation", "next steps", "sign-off", "test results", "contract",
    "slides for Thursday", "figures for the board", "list of suppliers", "final version",
)  # fmt: skip
WORK_OPENERS = (
    "I went through the {thing} for the {project} this morning.",
    "Quick update on the {project}: I am almost done with the {thing}.",
    "Could you have a look at the {thing} before our next meeting?",
    "We need the {thing} for the {project} by the end of the week.",
    "As discussed, here is where we stand with the {project}.",
    "{name} asked me about the {thing} again, so I would like to settle that.",
    "Before I forget: we still need the {thing} for the {project}.",
    "Good news on the {project}: they accepted the {thing}.",
)  # fmt: skip
WORK_MIDDLES = (
    "Two numbers do not match the ones from last month, I marked them.",
    "We are about {days} days behind, mostly because of the holidays.",
    "I would keep it to one page and move the rest to the appendix.",
    "The supplier confirmed {count} units, not {more} as planned.",
    "Let us use the old template, the new one breaks the tables.",
    "The budget line is {amount}, please do not go above it.",
    "{name} will cover for me while I am away.",
    "It would help to have a second pair of eyes on section {section}.",
    "I have booked room {section}0{days} for the follow-up.",
    "There are {count} open points, of which {days} are urgent.",
)  # fmt: skip
WORK_CLOSERS = (
    "Let me know what you think.", "No rush, Friday is fine.", "Happy to talk it through.",
    "Thanks for your help with this.", "Please answer by tomorrow noon.", "More on Monday.",
    "Call me if anything is unclear.",
)  # fmt: skip
WORK_REPLIES = (
    "Thanks, that works for me. I will update the {thing}.",
    "I would change the order of the last two points, otherwise fine.",
    "Can we move this to next week? I am at the {project} until Thursday.",
    "Agreed. {amount} is what we said, and I will tell finance.",
    "I have {count} comments, all small. See you at the meeting.",
    "Sorry for the delay. I like the {thing}, please go ahead.",
    "Not sure about section {section}; let us ask {name}.",
    "Done. I put the {thing} into the shared folder.",
)  # fmt: skip
PRIVATE_SUBJECTS = (
    "Weekend", "Long time no see", "Photos from {town}", "The recipe you asked for", "New address",
    "That book", "Summer plans", "Borrowed drill", "The concert", "Moving house", "Film night",
    "Allotment", "School reunion", "Sunday lunch", "Bike for sale", "Choir", "Football tickets",
)  # fmt: skip
PRIVATE_TEXTS = (
    "How are you all? We have been in {town} for a few days and thought of you.",
    "I finally found the {object}; it was in the cellar the whole time.",
    "Would you like to come over one evening? I could cook.",
    "The garden is a jungle, but the tomatoes are doing well.",
    "Work is busy, but I cannot complain. We should go hiking again.",
    "Do you still have my {object}? No hurry, I just want to know where it is.",
    "{name} sends greetings and asks when you will visit.",
    "The train was late again, so I had time to finish the book.",
    "I signed up for the course in {town}, {count} evenings in total.",
    "The little one lost a tooth yesterday and is very proud of it.",
    "We are thinking of selling the car and getting a cargo bike.",
)  # fmt: skip
PRIVATE_REPLIES = (
    "So good to hear from you! Yes, let us do that.",
    "Ha, I knew it. Bring the {object} when you come.",
    "We are away that week, but the one after would be fine.",
    "Lovely pictures. {town} looks wonderful at this time of year.",
    "I will ask {name} and come back to you.",
    "Count me in. I will bring something sweet.",
    "Thank you! Give my love to everybody.",
)  # fmt: skip
OBJECTS = (
    "tent", "drill", "sewing machine", "blue jacket", "camera bag", "ladder", "picnic blanket",
    "travel guide", "waffle iron", "guitar", "sledge", "raclette set",
)  # fmt: skip
NEWSLETTERS = (
    ("The Morning Loaf", "bread of the week", "flour, water, salt and patience"),
    ("Slow Rails", "journeys without a plane", "a night train and a window seat"),
    ("Balcony Farmer", "what to sow now", "seedlings that like the shade"),
    ("Paper & Ink", "new books", "three novels and one atlas"),
    ("City Cycling Club", "tours and repairs", "a flat tyre in ten minutes"),
    ("Open Data Weekly", "figures explained", "one chart, many questions"),
    ("Museum Friends", "exhibitions", "an hour with a single painting"),
    ("The Puzzle Post", "riddles", "last week's solution and a new grid"),
)  # fmt: skip
JUNK = (
    ("You have been selected", "Claim your reward of {amount} within {count} hours at our web site."),
    ("Your parcel is waiting", "A fee of {amount} is due. Confirm your address to receive it."),
    ("Last chance: premium watches", "Up to {count} % off, only today, while stocks last."),
    ("Invoice overdue", "Please open the attached invoice of {amount} and pay without delay."),
    ("Lose weight while you sleep", "{count} satisfied customers cannot be wrong."),
)  # fmt: skip
SPOTS = (
    "Café Lindgren", "The Old Mill", "Trattoria Bruna", "Harbour Kitchen", "Green Door Bistro",
    "Station Bar", "Library Café", "Noodle Corner", "Park Pavilion", "Blue Lantern",
    "City Theatre", "Riverside Cinema", "Climbing Hall", "Botanical Garden", "Town Museum",
)  # fmt: skip
OUTINGS = (
    "Dinner", "Lunch", "Coffee", "Drinks", "Film night", "Board games", "Concert", "Brunch",
    "Walk", "Museum visit", "Climbing", "Theatre",
)  # fmt: skip
MEETINGS = (
    "Project review", "Planning", "Interview", "Workshop", "Budget talk", "Supplier call",
    "Demo", "Retrospective", "Onboarding", "Customer visit",
)  # fmt: skip
APPOINTMENTS = (
    ("dentist", "Check-up"), ("doctor", "Appointment"), ("hairdresser", "Haircut"),
    ("garage", "Car service"), ("optician", "Eye test"), ("vet", "Vaccination"),
    ("physiotherapist", "Treatment"),
)  # fmt: skip
SERVICES = (
    "dentist", "doctor", "hairdresser", "garage", "optician", "vet", "physiotherapist", "plumber",
    "landlord", "electrician", "accountant", "music teacher",
)  # fmt: skip
CHATS = (
    ("Are you home already?", "Ten minutes!"),
    ("Can you bring milk?", "Yes, and bread?"),
    ("The bus is late again", "Take your time"),
    ("Did you see the news about {town}?", "Unbelievable"),
    ("Call me when you can", "After lunch, ok?"),
    ("Happy birthday to your {object}!", "Very funny"),
    ("Do you have the number of the {service}?", "I will send it"),
    ("Left my {object} at your place", "It is safe here"),
    ("How was {town}?", "Wet but wonderful"),
    ("What was the name of that wine?", "No idea, ask {name}"),
    ("Training at seven?", "Half past, please"),
    ("Train is at platform {section}", "On my way"),
    ("{name} is asking for the photos", "Tonight, promised"),
    ("Parcel for you is with the neighbours", "Thank you so much"),
)  # fmt: skip
NOTES = (
    ("Shopping", ("milk", "bread", "eggs", "tomatoes", "rice", "coffee", "apples", "soap", "cheese")),
    ("Packing list", ("passport", "charger", "rain jacket", "toothbrush", "book", "sunglasses")),
    ("Ideas for presents", ("a kite", "concert tickets", "good chocolate", "a plant", "socks")),
    ("Books to read", ("something about rivers", "the sea novel", "a cookbook", "short stories")),
    ("To do at home", ("fix the tap", "paint the door", "call the landlord", "descale the kettle")),
    ("Films", ("the one with the train", "the one about the island", "anything funny")),
    ("Garden", ("sow radishes", "cut the hedge", "order soil", "clean the pots")),
)  # fmt: skip
ARTICLES = (
    "Argentina", "Austria", "Canada", "Chile", "Croatia", "Denmark", "Estonia", "Finland", "Ghana",
    "Greece", "Iceland", "Indonesia", "Ireland", "Italy", "Japan", "Kenya", "Latvia", "Morocco",
    "New Zealand", "Norway", "Peru", "Portugal", "Senegal", "Slovenia", "Uruguay",
)  # fmt: skip
HEADLINES = (
    "Council votes on new tram line", "Warm weekend ahead", "Local team wins in extra time",
    "Bridge to close for repairs", "Library extends opening hours", "Market square gets trees",
    "School choir wins prize", "River cleaner than in decades", "Bakery celebrates a century",
    "Night buses to run every half hour", "Festival announces programme", "Museum finds lost map",
)  # fmt: skip
