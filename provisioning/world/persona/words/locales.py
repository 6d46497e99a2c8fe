"""Countries that personas live in: names, towns, streets, and the forms of addresses and numbers.

Towns and streets are invented.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Locale:
    """A country that a persona may live in.

    Attributes:
        code: language and country, such as ``de-DE``.
        country: English name of the country.
        currency: ISO 4217 code.
        phone: pattern of mobile numbers; see `Draws.digits`.
        postcode: pattern of postcodes.
        is_number_first: whether the house number precedes the street.
        south: southern end of its towns, degrees north.
        west: western end of its towns, degrees east.
        women: given names.
        men: given names.
        families: family names.
        towns: names of towns.
        streets: names of streets.
    """

    code: str
    country: str
    currency: str
    phone: str
    postcode: str
    is_number_first: bool
    south: float
    west: float
    women: tuple[str, ...]
    men: tuple[str, ...]
    families: tuple[str, ...]
    towns: tuple[str, ...]
    streets: tuple[str, ...]


_BRITAIN = Locale(
    "en-GB", "United Kingdom", "GBP", "+44 7700 9#####", "@@# #@@", True, 51.0, -2.9,
    (
        "Abigail", "Alice", "Amy", "Beth", "Charlotte", "Chloe", "Daisy", "Eleanor", "Emily", "Erin",
        "Fiona", "Freya", "Georgia", "Grace", "Hannah", "Harriet", "Holly", "Imogen", "Isla", "Jess",
        "Kate", "Lucy", "Maisie", "Megan", "Niamh", "Olivia", "Poppy", "Rosie", "Sophie", "Zara",
    ),
    (
        "Adam", "Alfie", "Archie", "Ben", "Callum", "Charlie", "Daniel", "Dylan", "Edward", "Ewan",
        "Finlay", "George", "Harry", "Isaac", "Jack", "Jamie", "Joshua", "Kieran", "Leo", "Liam",
        "Matthew", "Nathan", "Oliver", "Owen", "Patrick", "Rory", "Samuel", "Theo", "Tom", "William",
    ),
    (
        "Ainsworth", "Barlow", "Bennett", "Blackwood", "Carter", "Chadwick", "Clarke", "Cooper",
        "Dawson", "Ellison", "Fairclough", "Fletcher", "Gibson", "Hargreaves", "Holloway", "Hughes",
        "Jarvis", "Kendall", "Kirby", "Lawson", "Lockwood", "Marsh", "Mercer", "Norris", "Osborne",
        "Parsons", "Pemberton", "Quinn", "Radcliffe", "Rowe", "Sharpe", "Stafford", "Sutton",
        "Thornton", "Turner", "Underhill", "Wainwright", "Walsh", "Whitaker", "Yates",
    ),
    (
        "Alderbourne", "Brackenstead", "Cawthwick", "Dunmere", "Elmshaw", "Farrowby", "Gorsleigh",
        "Hathermoor", "Inglebury", "Kestrelford", "Larkhampton", "Mossley Vale", "Northwell Regis",
        "Osterby-on-Sea",
    ),
    (
        "Abbey Road", "Beech Grove", "Canal Street", "Chapel Lane", "Church Hill", "Cobbler's Row",
        "Farm Lane", "Foundry Street", "George Street", "Hawthorn Avenue", "High Street",
        "Kiln Close", "Mill Lane", "Nelson Terrace", "Orchard Way", "Park View", "Priory Gardens",
        "Queen Street", "Rectory Road", "Station Road", "Tanner's Yard", "Victoria Crescent",
    ),
)  # fmt: skip
_AMERICA = Locale(
    "en-US", "United States", "USD", "+1 2## 555 ####", "#####", True, 38.5, -93.0,
    (
        "Abby", "Ashley", "Audrey", "Brianna", "Brooke", "Camila", "Carmen", "Dana", "Destiny",
        "Ellie", "Faith", "Gabriela", "Hailey", "Hope", "Ivy", "Jasmine", "Kayla", "Kimberly",
        "Lauren", "Leah", "Madison", "Mia", "Morgan", "Natalie", "Paige", "Rachel", "Sierra",
        "Taylor", "Valerie", "Willow",
    ),
    (
        "Aaron", "Andre", "Austin", "Blake", "Brandon", "Caleb", "Carlos", "Cody", "Derek", "Diego",
        "Elijah", "Ethan", "Gavin", "Grant", "Hector", "Hunter", "Jaden", "Jordan", "Justin",
        "Landon", "Logan", "Malik", "Marcus", "Miguel", "Noah", "Parker", "Ryan", "Trevor", "Tyler",
        "Wyatt",
    ),
    (
        "Acosta", "Alvarez", "Baker", "Brooks", "Bryant", "Callahan", "Chen", "Coleman", "Cruz",
        "Davis", "Delgado", "Foster", "Freeman", "Graham", "Griffin", "Hayes", "Henderson", "Howard",
        "Jefferson", "Kim", "Larson", "Lopez", "Mitchell", "Morales", "Nguyen", "Ortiz", "Park",
        "Patterson", "Perry", "Powell", "Ramirez", "Reed", "Rivera", "Russell", "Sanders", "Simmons",
        "Sullivan", "Vargas", "Wallace", "Washington",
    ),
    (
        "Amber Falls", "Bluestem", "Cedar Hollow", "Dry Creek", "Eagle Bend", "Fallon Heights",
        "Granite Springs", "Harlan Mills", "Juniper Flats", "Lakemont", "Maple Junction",
        "New Carver", "Prairie Point", "Silver Ridge",
    ),
    (
        "2nd Street", "5th Avenue", "Aspen Drive", "Birch Court", "Bluff Road", "Cherry Lane",
        "College Avenue", "Cottonwood Drive", "Elm Street", "Franklin Street", "Garden Place",
        "Hickory Lane", "Jackson Street", "Lake Shore Drive", "Lincoln Avenue", "Main Street",
        "Meadow Lane", "Oak Street", "Pioneer Way", "Ridge Road", "Sunset Boulevard", "Walnut Street",
    ),
)  # fmt: skip
_GERMANY = Locale(
    "de-DE", "Germany", "EUR", "+49 15# ########", "#####", False, 48.5, 8.2,
    (
        "Anja", "Anke", "Antonia", "Birgit", "Carolin", "Christa", "Doris", "Elke", "Franziska",
        "Frieda", "Gisela", "Greta", "Heike", "Ida", "Ilse", "Johanna", "Karin", "Lena", "Lotte",
        "Luise", "Marlene", "Mathilda", "Nele", "Pia", "Renate", "Silke", "Stefanie", "Svenja",
        "Ute", "Wiebke",
    ),
    (
        "Achim", "Bastian", "Bernd", "Christoph", "Dieter", "Eberhard", "Fabian", "Florian", "Georg",
        "Hannes", "Heiko", "Holger", "Jannik", "Joachim", "Kai", "Konrad", "Lennart", "Lukas",
        "Manfred", "Matthias", "Moritz", "Oskar", "Philipp", "Rainer", "Sebastian", "Stefan",
        "Thorsten", "Tobias", "Uwe", "Wolfgang",
    ),
    (
        "Ahrens", "Albrecht", "Baumann", "Beckmann", "Bergmann", "Brinkmann", "Busch", "Dietrich",
        "Ebert", "Engel", "Falk", "Frank", "Friedrich", "Graf", "Hartmann", "Heinrich", "Herrmann",
        "Horn", "Kaiser", "Kessler", "Krause", "Kuhn", "Lange", "Lorenz", "Ludwig", "Mohr",
        "Neumann", "Otto", "Pohl", "Reuter", "Sander", "Schilling", "Schreiber", "Seidel", "Stark",
        "Thiel", "Ulrich", "Vogt", "Wagner", "Ziegler",
    ),
    (
        "Ahornfelde", "Birkenau am See", "Dornstadt", "Eichenrode", "Falkenbrunn", "Grauental",
        "Heidekrug", "Immenhof", "Kirschbach", "Lindenwalde", "Moosbrunn", "Neuenmarkt",
        "Rabenstein", "Steinhude",
    ),
    (
        "Ackerstraße", "Ahornweg", "Am Anger", "Am Mühlbach", "Bahnhofstraße", "Bergstraße",
        "Birkenallee", "Brunnengasse", "Dorfplatz", "Feldweg", "Gartenstraße", "Goethestraße",
        "Hafenstraße", "Hauptstraße", "Kastanienweg", "Kirchgasse", "Lindenstraße", "Marktplatz",
        "Rosenweg", "Schillerstraße", "Schulstraße", "Wiesengrund",
    ),
)  # fmt: skip
_FRANCE = Locale(
    "fr-FR", "France", "EUR", "+33 6 ## ## ## ##", "#####", True, 44.8, 0.8,
    (
        "Adèle", "Agathe", "Amélie", "Apolline", "Aurélie", "Camille", "Capucine", "Cécile",
        "Céline", "Clémence", "Delphine", "Élise", "Émilie", "Fanny", "Gaëlle", "Héloïse", "Inès",
        "Jeanne", "Juliette", "Léa", "Louise", "Manon", "Margaux", "Mathilde", "Noémie", "Océane",
        "Pauline", "Romane", "Solène", "Violette",
    ),
    (
        "Adrien", "Alexis", "Antoine", "Arnaud", "Aurélien", "Baptiste", "Bastien", "Benoît",
        "Clément", "Corentin", "Damien", "Étienne", "Fabrice", "Florent", "Gaspard", "Guillaume",
        "Hugo", "Jérôme", "Julien", "Kévin", "Laurent", "Loïc", "Mathieu", "Maxime", "Nicolas",
        "Olivier", "Pascal", "Quentin", "Rémi", "Théo",
    ),
    (
        "Aubert", "Barbier", "Baudry", "Berger", "Blanchard", "Bonnet", "Boucher", "Brunet", "Caron",
        "Chevalier", "Colin", "Delorme", "Deschamps", "Dumas", "Dupuis", "Fabre", "Fontaine",
        "Gaillard", "Garnier", "Gauthier", "Girard", "Guérin", "Hubert", "Jacquet", "Lacroix",
        "Lambert", "Leclerc", "Lefèvre", "Lemaire", "Marchand", "Mercier", "Morel", "Noël",
        "Perrin", "Picard", "Renard", "Rousseau", "Roussel", "Tessier", "Vasseur",
    ),
    (
        "Aubéry-le-Vieux", "Beaucourt-sur-Vrille", "Chantemerle", "Draville", "Espérac", "Fontbrune",
        "Grandpré-les-Eaux", "Hautefeuille", "Lormoy", "Montclar", "Noirval", "Peyrevert",
        "Rochemaure", "Saint-Ambly",
    ),
    (
        "allée des Tilleuls", "avenue de la Gare", "avenue Jean-Moulin", "boulevard du Midi",
        "chemin des Vignes", "cours de la Liberté", "impasse du Moulin", "place de la Mairie",
        "place du Marché", "quai des Bateliers", "rue de l'Église", "rue de la Fontaine",
        "rue de la Poste", "rue des Acacias", "rue des Écoles", "rue des Jardins", "rue du Château",
        "rue du Four", "rue du Lavoir", "rue Pasteur", "rue Victor-Hugo", "sentier des Lavandes",
    ),
)  # fmt: skip
_SPAIN = Locale(
    "es-ES", "Spain", "EUR", "+34 6## ### ###", "#####", False, 38.4, -4.6,
    (
        "Adriana", "Alba", "Alicia", "Amparo", "Andrea", "Aurora", "Begoña", "Blanca", "Candela",
        "Carolina", "Celia", "Claudia", "Cristina", "Elvira", "Estrella", "Gloria", "Irene",
        "Isabel", "Jimena", "Laura", "Lourdes", "Lucía", "Marina", "Mercedes", "Nuria", "Pilar",
        "Rocío", "Silvia", "Teresa", "Ximena",
    ),
    (
        "Adrián", "Agustín", "Alejandro", "Álvaro", "Andrés", "Antonio", "Borja", "Carles", "César",
        "Daniel", "Eduardo", "Emilio", "Enrique", "Felipe", "Fernando", "Gonzalo", "Ignacio", "Iker",
        "Javier", "Joaquín", "Jorge", "Leandro", "Manuel", "Mateo", "Nicolás", "Pablo", "Raúl",
        "Rubén", "Sergio", "Vicente",
    ),
    (
        "Aguilar", "Alonso", "Aranda", "Benítez", "Blanco", "Caballero", "Cabrera", "Calvo",
        "Campos", "Cano", "Crespo", "Domínguez", "Esteban", "Fuentes", "Gallego", "Garrido",
        "Giménez", "Guerrero", "Herrera", "Hidalgo", "Iglesias", "Lozano", "Marín", "Méndez",
        "Molina", "Montero", "Moya", "Navarro", "Nieto", "Ortega", "Pascual", "Prieto", "Redondo",
        "Rubio", "Santana", "Serrano", "Soler", "Vega", "Vicente", "Zamora",
    ),
    (
        "Alcorisa del Mar", "Benaverde", "Castrofuerte", "Dehesa Alta", "El Romeral", "Fuentelmonte",
        "Guadalora", "Higueruela", "La Almenara", "Monteagudo", "Olivares del Río", "Peñarroca",
        "Torrelaguna", "Valdemora",
    ),
    (
        "Avenida de la Constitución", "Avenida del Puerto", "Calle Alta", "Calle de la Paz",
        "Calle de la Rosa", "Calle del Carmen", "Calle del Olivo", "Calle del Pozo", "Calle del Sol",
        "Calle Mayor", "Calle Nueva", "Calle Real", "Camino Viejo", "Carretera de la Sierra",
        "Cuesta del Molino", "Paseo de la Ribera", "Paseo Marítimo", "Plaza de España",
        "Plaza de la Fuente", "Ronda Norte", "Travesía del Sur", "Vía Augusta",
    ),
)  # fmt: skip
_INDIA = Locale(
    "en-IN", "India", "INR", "+91 98### #####", "######", True, 15.2, 75.4,
    (
        "Aditi", "Aishwarya", "Ananya", "Anjali", "Bhavna", "Chitra", "Deepa", "Divya", "Gayatri",
        "Indira", "Isha", "Jyoti", "Kavita", "Lakshmi", "Madhuri", "Meera", "Nandini", "Neha",
        "Pooja", "Priya", "Radhika", "Rashmi", "Ritu", "Sanjana", "Shreya", "Sneha", "Sunita",
        "Tanvi", "Usha", "Vidya",
    ),
    (
        "Aditya", "Ajay", "Amit", "Anand", "Arjun", "Ashok", "Deepak", "Dinesh", "Gaurav", "Harish",
        "Karan", "Kiran", "Krishna", "Mahesh", "Manoj", "Mohan", "Naveen", "Nikhil", "Prakash",
        "Rahul", "Rajesh", "Ravi", "Rohan", "Sanjay", "Siddharth", "Suresh", "Tarun", "Varun",
        "Vijay", "Vikram",
    ),
    (
        "Agarwal", "Bajaj", "Banerjee", "Bhat", "Chandra", "Chauhan", "Chopra", "Das", "Desai",
        "Deshpande", "Dutta", "Gokhale", "Gupta", "Hegde", "Iyengar", "Iyer", "Jain", "Joshi",
        "Kamath", "Kapoor", "Khanna", "Kulkarni", "Kumar", "Malhotra", "Mehta", "Menon", "Mishra",
        "Nair", "Pai", "Patil", "Pillai", "Rao", "Reddy", "Saxena", "Sharma", "Shetty", "Singh",
        "Srinivasan", "Trivedi", "Varma",
    ),
    (
        "Amritpur", "Bansiwadi", "Chandragiri Nagar", "Devanahalli East", "Gulmohar Park",
        "Hasthinakere", "Kamalapura", "Lakshmisagar", "Madhupur", "Neelgiri Town", "Panchvati",
        "Rampur Khas", "Shantinagar", "Vasantpet",
    ),
    (
        "1st Cross Road", "Ashram Road", "Bazaar Street", "Brigade Lane", "Canal Bank Road",
        "Fort Road", "Gandhi Marg", "Garden Layout", "Hill View Road", "Jawahar Road", "Lake Road",
        "Link Road", "Mandir Marg", "Market Road", "MG Road", "Nehru Street", "Palm Avenue",
        "Railway Parallel Road", "School Street", "Station Road", "Temple Street", "Residency Lane",
    ),
)  # fmt: skip

LOCALES = (_BRITAIN, _AMERICA, _GERMANY, _FRANCE, _SPAIN, _INDIA)
"""All countries that personas live in."""
