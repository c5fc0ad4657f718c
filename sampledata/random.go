package sampledata

import (
	"math/bits"

	"sluice/shared/ingest/transaction/schema"
)

// random is splitmix64: fast, and random enough for test data. Every line, ID and choice has a stream of its own, so
// that any of them can be generated without those before it.
type random struct{ state uint64 }

// golden is the increment of splitmix64, from the golden ratio.
const golden = 0x9E3779B97F4A7C15

// mix is the output function of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// next returns the next number of the stream.
func (r *random) next() uint64 {
	r.state += golden
	return mix(r.state)
}

// below returns a number from 0 to n-1.
func (r *random) below(n uint64) uint64 {
	high, _ := bits.Mul64(r.next(), n)
	return high
}

// chance returns true in so many of a hundred cases.
func (r *random) chance(percent uint64) bool { return r.below(100) < percent }

// pick returns one of the given values.
func pick[T any](r *random, from []T) T { return from[r.below(uint64(len(from)))] }

// domain distinguishes the streams of different things.
type domain uint64

const (
	domainLine domain = iota + 1
	domainPlace
	domainSlots
	domainPayment
	domainTransaction
	domainModification
	// domainSharedID has the modification IDs of duplicates.
	domainSharedID
	// domainEntity has the onboarded entities, domainNotOnboarded the others that exist, and domainUnknownEntity IDs
	// that no entity has.
	domainEntity
	domainNotOnboarded
	domainUnknownEntity
)

// stream returns the stream of thing n in a domain.
func stream(seed uint64, d domain, n uint64) random {
	return random{mix(mix(seed+uint64(d)*golden) + n*golden)}
}

// random returns the stream of thing n in a domain, with the generator's seed.
func (g *Generator) random(d domain, n uint64) random { return stream(g.opts.Seed, d, n) }

const hex = "0123456789abcdef"

// uuid appends a version 4 UUID.
func (r *random) uuid(b []byte) []byte {
	high, low := r.next()&^(0xF<<12)|4<<12, r.next()&^(3<<62)|2<<62
	var u [36]byte
	at := 0
	for i := 60; i >= 0; i -= 4 {
		if at == 8 || at == 13 {
			u[at] = '-'
			at++
		}
		u[at] = hex[high>>i&15]
		at++
	}
	for i := 60; i >= 0; i -= 4 {
		if at == 18 || at == 23 {
			u[at] = '-'
			at++
		}
		u[at] = hex[low>>i&15]
		at++
	}
	return append(b, u[:]...)
}

// id returns ID n of a domain.
func (g *Generator) id(d domain, n uint64) string {
	r := g.random(d, n)
	return string(r.uuid(nil))
}

// allCountries and allCurrencies are all codes that a line may use.
var allCountries, allCurrencies = schema.Countries(), schema.Currencies()

// Values of members. Free text comes in pairs; the second of each is in another script.

var (
	countries = []string{
		"NL", "DE", "FR", "BE", "GB", "ES", "IT", "PL", "SE", "US", "CH", "AT",
		"IE", "PT", "SG", "JP", "XK",
	}
	currencies = []string{"EUR", "EUR", "EUR", "EUR", "USD", "GBP", "CHF", "SEK", "PLN", "JPY"}
	methods    = []string{
		"sepa_credit_transfer", "sepa_instant", "card", "ideal", "bancontact",
		"swift", "faster_payments", "cash",
		"SEPA_CREDIT_TRANSFER", "SEPA_INSTANT", "SEPA_DIRECT_DEBIT", "SWIFT", "CARD", "CASH", "CHAPS", "ACH",
		"FEDWIRE", "FASTER_PAYMENTS", "WALLET", "CHEQUE",
	}
	customerPrefixes = []string{"cust-", "CUST-", "customer-", "C"}
	variants         = []string{"visa_debit", "mc_credit", "visa_credit", "maestro", "amex_corporate"}
	categories       = []string{
		"goods", "services", "salary", "rent", "subscription", "donation",
		"loan_repayment", "travel", "invoice", "investment", "insurance", "pension", "tax", "fees", "transfer",
	}
	channels = []string{
		"web", "app", "branch", "api", "terminal", "mobile", "batch", "batch_upload", "phone", "atm",
		"online",
	}
	interactions = []string{"ecommerce", "pos", "moto", "recurring"}
	types        = []string{
		"settlement", "settlement", "settlement", "authorised", "capture",
		"refund", "chargeback", "cancel", "failure",
	}
	labels  = []string{"sender", "receiver", "merchant", "consumer", "merchant_profile"}
	risks   = []string{"low", "medium", "high", "not assessed"}
	reasons = []string{"requested_by_customer", "duplicate order", "goods returned", "insufficient_funds"}
	banks   = []string{"ABNANL2A", "INGBNL2A", "DEUTDEFF", "BNPAFRPPXXX", "BARCGB22", "UBSWCHZH80A", "CHASUS33"}
	agents  = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Chrome/126.0.0.0 Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/17.5 Mobile/15E148",
		"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
		"okhttp/4.12.0",
	}

	firstNames = textPair{
		{"Anna", "Pieter", "Laura", "James", "Sofia", "Marek", "Emma", "David", "Ingrid", "Paul"},
		{"Zoë", "José", "Łukasz", "Søren", "Čeněk", "Νίκος", "Ольга", "美咲", "يوسف", "अनिता"},
	}
	lastNames = textPair{
		{"Jansen", "Smith", "Keller", "Rossi", "Novak", "de Vries", "O'Brien", "Martin", "Berg", "Silva"},
		{"Müller", "Gärtner", "Nuñez", "Wójcik", "Ångström", "Παπαδόπουλος", "Иванова", "田中", "حداد", "शर्मा"},
	}
	streets = textPair{
		{"Keizersgracht 241", "12 High Street", "Hauptstrasse 7", "Via Roma 18", "Rue de la Paix 3"},
		{"Königsallee 60", "Plaça de Catalunya 9", "ul. Świętokrzyska 14", "Østergade 27", "東京都渋谷区1-2-3"},
	}
	cities = textPair{
		{"Amsterdam", "Rotterdam", "London", "Berlin", "Madrid", "Milano"},
		{"Düsseldorf", "Kraków", "Málaga", "København", "Αθήνα", "大阪市"},
	}
	descriptions = textPair{
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

// textPair has a list of texts in ASCII and one of texts that are not.
type textPair [2][]string

// pick returns a text, a quarter of the times one that is not in ASCII.
func (t textPair) pick(r *random) string {
	if r.chance(25) {
		return pick(r, t[1])
	}
	return pick(r, t[0])
}
