package sampledata

// What lines are made of. Free text comes in pairs: the second list holds what other scripts write.

var (
	countries  = []string{"NL", "DE", "FR", "BE", "GB", "ES", "IT", "PL", "SE", "US", "CH", "AT", "IE", "PT", "SG", "JP", "XK"}
	currencies = []string{"EUR", "EUR", "EUR", "EUR", "USD", "GBP", "CHF", "SEK", "PLN", "JPY"}
	methods    = []string{"sepa_credit_transfer", "sepa_instant", "card", "ideal", "bancontact", "swift", "faster_payments", "cash"}
	variants   = []string{"visa_debit", "mc_credit", "visa_credit", "maestro", "amex_corporate"}
	categories = []string{"goods", "services", "salary", "rent", "subscription", "donation", "loan_repayment", "travel"}
	channels   = []string{"web", "app", "branch", "api", "terminal"}
	interacts  = []string{"ecommerce", "pos", "moto", "recurring"}
	types      = []string{"settlement", "settlement", "settlement", "authorised", "capture", "refund", "chargeback", "cancel", "failure"}
	labels     = []string{"sender", "receiver", "merchant", "consumer", "merchant_profile"}
	risks      = []string{"low", "medium", "high", "not assessed"}
	reasons    = []string{"requested_by_customer", "duplicate order", "goods returned", "insufficient_funds"}
	banks      = []string{"ABNANL2A", "INGBNL2A", "DEUTDEFF", "BNPAFRPPXXX", "BARCGB22", "UBSWCHZH80A", "CHASUS33"}
	agents     = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148",
		"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
		"okhttp/4.12.0",
	}

	firstNames = twin{
		{"Anna", "Pieter", "Laura", "James", "Sofia", "Marek", "Emma", "David", "Ingrid", "Paul"},
		{"Zoë", "José", "Łukasz", "Søren", "Čeněk", "Νίκος", "Ольга", "美咲", "يوسف", "अनिता"},
	}
	lastNames = twin{
		{"Jansen", "Smith", "Keller", "Rossi", "Novak", "de Vries", "O'Brien", "Martin", "Berg", "Silva"},
		{"Müller", "Gärtner", "Nuñez", "Wójcik", "Ångström", "Παπαδόπουλος", "Иванова", "田中", "حداد", "शर्मा"},
	}
	companies = twin{
		{"Blue Harbour Trading B.V.", "Northwind Logistics GmbH", "Acme \"Fast\" Parts Ltd", "Green Field Foods NV", "Orbit Software Inc."},
		{"Café Zürich & Söhne AG", "Crème Brûlée SARL", "株式会社さくら商事", "ООО «Северный ветер»", "Błękitna Fala sp. z o.o."},
	}
	streets = twin{
		{"Keizersgracht 241", "12 High Street", "Hauptstrasse 7", "Via Roma 18", "Rue de la Paix 3"},
		{"Königsallee 60", "Plaça de Catalunya 9", "ul. Świętokrzyska 14", "Østergade 27", "東京都渋谷区1-2-3"},
	}
	cities = twin{
		{"Amsterdam", "Rotterdam", "London", "Berlin", "Madrid", "Milano"},
		{"Düsseldorf", "Kraków", "Málaga", "København", "Αθήνα", "大阪市"},
	}
	descriptions = twin{
		{
			"Invoice %d, payment terms 30 days, thank you for your order",
			"Order %d web shop, two articles, delivery to pick-up point",
			"Subscription no. %d monthly fee, automatic collection",
			"Settlement %d of card takings, net of fees and \"chargebacks\"",
			"Ref %d C:\\export\\payments, booked by hand",
		},
		{
			"Rechnung Nr. %d über Büromöbel, zahlbar bis Monatsende – vielen Dank",
			"Facture n° %d pour café et thé, livraison à l'entrepôt",
			"Zamówienie %d: książki i żarówki, dostawa do paczkomatu",
			"ご注文番号 %d のお支払い、ありがとうございます",
			"Оплата счёта № %d за услуги связи 📱",
		},
	}
)

// twin is a list of texts in ASCII and one of texts that are not.
type twin [2][]string

// from takes a quarter of the texts from the second list.
func (t twin) from(r *random) string {
	if r.chance(25) {
		return pick(r, t[1])
	}
	return pick(r, t[0])
}
