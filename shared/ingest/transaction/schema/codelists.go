package schema

import (
	"slices"
	"strings"
)

// The code lists are part of the source, so that a verdict never depends on where or when it is made. Where they come
// from:
//
//   - countries and currencies in force: ISO 3166-1 and ISO 4217 as in pycountry 26.2.16 of 2026-02-16, which has the
//     iso-codes data;
//   - countries withdrawn since 1999: ISO 3166-3 of the same release, withdrawal date 1999-01-01 or later;
//   - currencies withdrawn since 1999: ISO 4217 list three ("historic denominations") as in
//     github.com/datasets/currency-codes of 2025, WithdrawalDate 1999-01 or later, without the codes that continue
//     under a new name (PEN, RON, TRY, ...); and BGN, which left the list in force with the euro of 2026-01.
//
// To renew them, take the same lists of a newer release, move the codes that were withdrawn to the withdrawn ones, and
// change the counts in the test.
const (
	countriesInForce = `
	AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY
	BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK
	FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR
	IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK
	ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM
	PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF
	TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
`
	// countriesAdded are the countries withdrawn since 1999, and XK: a user-assigned code in use for Kosovo.
	countriesAdded = `
	AN CS TP XK YU
`
	currenciesInForce = `
	AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE
	CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF
	GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
	LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
	PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
	TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC
	XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG
`
	currenciesWithdrawn = `
	ADP AFA ANG AON AOR ATS AYM AZM BEF BGL BGN BYB BYR CHC CSD CUC CYP DEM ECS ECV EEK ESP FIM FRF GHC GHP GRD
	HRK IEP ITL LTL LUF LVL MGF MRO MTL MZM NLG PTE ROL RUR SDD SIT SKK SLL SRG STD TJR TMM TPE TRL USS VEB VEF
	XEU XFO XFU XRE YUM ZMK ZRN ZWD ZWL ZWN ZWR
`
)

// Countries lists the country codes that a line may use, sorted.
func Countries() []string { return sortedCodes(countriesInForce + countriesAdded) }

// Currencies lists the currency codes that a line may use, sorted.
func Currencies() []string { return sortedCodes(currenciesInForce + currenciesWithdrawn) }

func sortedCodes(lists string) []string {
	codes := strings.Fields(lists)
	slices.Sort(codes)
	return codes
}
