package sampledata

import (
	"math/bits"
	"strings"
)

// The names of unknown entities follow Zipf's law, as names do: a few given names and surnames are everywhere, and most
// full names occur once. Frequent parts come from tables; rare ones are made of syllables, always the same for a rank.

// zipf returns a rank from 0 to 2^n-2. Rank r has about the probability 1/(r+1), but for a factor.
func (r *random) zipf(n uint64) uint64 {
	magnitude := uint64(1) << r.below(n)
	return magnitude + r.below(magnitude) - 1
}

// The ranks of given names, of surnames and of words in names of companies, in powers of two.
const (
	givenRanks   = 7
	surnameRanks = 20
	wordRanks    = 15
)

// appendFullName appends the name of an unknown entity: of a company in 40 of 100 cases, otherwise of a person. A
// quarter is not in ASCII.
func appendFullName(b []byte, r *random) []byte {
	isCompany, other := r.chance(40), r.chance(25)
	switch {
	case isCompany && other:
		b = appendSyllables(b, r.zipf(wordRanks), accentedSyllables)
		return append(append(append(b, ' '), pick(r, otherTrades)...), pick(r, otherForms)...)
	case isCompany:
		b = appendWord(b, r.zipf(wordRanks))
		if r.chance(60) {
			b = appendWord(append(b, ' '), r.zipf(wordRanks))
		}
		b = append(append(b, ' '), trades[r.zipf(5)%uint64(len(trades))]...)
		return append(append(b, ' '), pick(r, forms)...)
	case other:
		return appendOtherName(b, r)
	}
	b = append(b, givenNames[r.zipf(givenRanks)]...)
	switch middle := r.below(10); {
	case middle == 0:
		b = append(append(b, ' '), givenNames[r.zipf(givenRanks)]...)
	case middle < 4:
		b = append(b, ' ', 'A'+byte(r.below(26)), '.')
	}
	return appendSurname(append(b, ' '), r.zipf(surnameRanks))
}

// appendOtherName appends the name of a person in letters that are not all ASCII.
func appendOtherName(b []byte, r *random) []byte {
	switch script := r.below(10); {
	case script < 6:
		b = append(append(b, accentedGiven[r.zipf(4)]...), ' ')
		return appendSyllables(b, r.zipf(surnameRanks), accentedSyllables)
	case script < 9:
		b = append(append(b, cyrillicGiven[r.zipf(4)]...), ' ')
		stem := pick(r, cyrillicStems)
		return append(append(append(b, stem...), pick(r, cyrillicLinks)...), pick(r, cyrillicEnds)...)
	}
	name := pick(r, otherScripts)
	return append(append(append(b, pick(r, name[0])...), ' '), pick(r, name[1])...)
}

// appendSurname appends the surname of a rank.
func appendSurname(b []byte, rank uint64) []byte {
	if rank < uint64(len(surnames)) {
		return append(b, surnames[rank]...)
	}
	return appendSyllables(b, rank, plainSyllables)
}

// appendWord appends the word of a rank for the name of a company.
func appendWord(b []byte, rank uint64) []byte {
	if rank < uint64(len(companyWords)) {
		return append(b, companyWords[rank]...)
	}
	return appendSyllables(b, rank, plainSyllables)
}

// syllables make words: a beginning, two thirds of the times a middle, and an end.
type syllables [3][]string

// appendSyllables appends the word of a rank.
func appendSyllables(b []byte, rank uint64, from syllables) []byte {
	z := mix(rank + 1)
	next := func(list []string) string {
		high, low := bits.Mul64(z, uint64(len(list)))
		z = mix(low + golden)
		return list[high]
	}
	b = append(b, next(from[0])...)
	if rank%3 > 0 {
		b = append(b, next(from[1])...)
	}
	return append(b, next(from[2])...)
}

// The tables, the most frequent first. givenNames has 2^givenRanks-1 names.
var (
	givenNames = strings.Fields(`Maria Anna John David Michael Laura Peter Thomas Jan Sofia James Mohammed Daniel
		Robert Paul Emma Martin Ana Elena Julia Marco Mark Ivan Christian Sarah Lucas Eva Andrea Carlos Luis Jose
		Antonio Francesco Giovanni Pieter Willem Johanna Katarina Marek Piotr Agnieszka Ewa Tomasz Ingrid Erik Lars
		Anders Karin Nils Olga Natalia Dmitri Sergey Alexei Yuri Irina Tatiana Ahmed Ali Omar Fatima Hassan Youssef
		Aisha Khalid Ibrahim Layla Samir Leila Wei Li Ming Xin Yan Hiroshi Yuki Kenji Akiko Haruto Minh Thi Linh Priya
		Rahul Anil Sunita Vikram Deepa Arjun Kofi Amina Kwame Chidi Ngozi Grace Samuel Joseph Esther Ruth Hannah
		Oliver George William Henry Edward Alice Charlotte Emily Claire Pierre Jean Nicolas Camille Hugo Louise Stefan
		Mihai Ioana Bogdan Zoltan Istvan Katalin Dimitris Giorgos Eleni Mehmet Ayse`)
	surnames = strings.Fields(`Smith Mueller Garcia Silva Jansen Rossi Novak Martin Jones Schmidt Fernandez Dubois
		Kowalski Johansson Nielsen Hansen Williams Brown Bakker Visser Meyer Weber Wagner Becker Fischer Schneider
		Lopez Martinez Gonzalez Rodriguez Perez Sanchez Santos Pereira Ferreira Costa Oliveira Bianchi Romano Ricci
		Moretti Bernard Petit Durand Leroy Moreau Laurent Nowak Wisniewski Kaminski Lewandowski Zielinski Horvat Kovac
		Kovacs Nagy Toth Szabo Popescu Ionescu Popa Ivanov Petrov Sidorov Smirnov Kuznetsov Popov Volkov Sokolov
		Morozov Shevchenko Bondarenko Kovalenko Andersson Karlsson Nilsson Eriksson Larsson Olsen Berg Haugen Virtanen
		Korhonen Papadopoulos Georgiou Yilmaz Kaya Demir Celik Hassan Ali Ahmed Khan Hussain Haddad Khoury Mansour
		Saleh Nasser Singh Patel Sharma Kumar Gupta Reddy Chen Wang Zhang Liu Yang Huang Zhao Wu Tanaka Sato Suzuki
		Takahashi Watanabe Kim Park Lee Choi Nguyen Tran Le Pham Okafor Mensah Okeke Diallo Traore Campbell Murphy
		Kelly Walsh O'Brien Taylor Wilson Evans Walker Wright Hughes Green Hall Wood Clarke Cooper Turner Hill`)
	companyWords = strings.Fields(`Blue Northern Global United First Green Royal Atlantic Pacific Alpine Golden Silver
		Eastern Western Southern Central Prime Summit Harbour River Ocean Star Sun Crown Eagle Lion Falcon Phoenix
		Orion Vector Delta Alpha Omega Nova Apex Zenith Horizon Bridge Castle Tower Stone Iron Cedar Maple Oak Pine
		Rose Lotus Baltic Nordic Iberia Levant Orient Meridian Polar Coral Amber Crystal Granite Quantum Digital Smart
		Rapid Modern Classic Fresh Pure Bright`)
	trades = []string{"Trading", "Logistics", "Services", "Foods", "Consulting", "Construction", "Software", "Energy",
		"Textiles", "Shipping", "Motors", "Pharma", "Media", "Travel", "Design", "Electronics", "Properties",
		"Machinery", "Imports", "\"Fast\" Parts"}
	forms = []string{"B.V.", "GmbH", "Ltd", "NV", "Inc.", "S.A.", "LLC", "AG", "SRL", "AB", "ApS", "Sp. z o.o.", "Oy",
		"Lda"}

	plainSyllables = syllables{
		strings.Fields(`Al An Ar Bal Ban Bar Ber Bol Bor Bran Bre Bur Cal Can Car Cas Cor Dal Dan Dar Del Der Dom Dor
		Dra El Er Fal Far Fel Fer Fol For Gal Gar Ger Gol Gor Gra Gri Hal Han Har Hel Her Hol Hor Jan Jar Jor Kal Kan
		Kar Ker Kol Kor Kra Lam Lan Lar Leb Lem Lin Lor Mal Man Mar Mel Mer Mil Mol Mor Nal Nar Ner Nor Ol Or Pal Pan
		Par Per Pol Por Ra Ram Ras Ren Ri Rob Rom Ros Sal San Sar Ser Sil Sol Sor Stan Ste Tal Tan Tar Ter Tol Tor Tra
		Val Van Var Ver Vil Vol Wal War Wel Wil Zal Zar Zel`),
		strings.Fields(`a e i o u ba be bi da de di do fa ga ge go ka ke ki ko la le li lo ma me mi mo na ne ni no ra
		re ri ro sa se si so ta te ti to va ve vi vo za ze zi`),
		strings.Fields(`berg bert ble chek cki court den der dez din do don dorf field ford ga gren gue ham hof holm
		ic ini itz ka ke ker kin ko land ler ley li lin lund man mann mer mont na ner ni nik nson off ova ov park
		quist res ri ro rod ros roy sen ser sky son stad stein ston strom ta tar te ter ti ton tov und va van vel ver
		vic ville vin wald well wick wood worth zak zen zin`),
	}
	accentedSyllables = syllables{
		strings.Fields(`Mü Gär Nu Wó Ång Kö Jä Bö Çe Ša Žu Dvo Čer Ře Łu Śli Ög Äs Bjø Sø Pé Bé Dü Grü Hø Kä Lö Mó Ná
		Pó Rá Sán Tö Vá Zá Żó Ó Çak Ís Ég Ču Ðor Fü Gó Hé Ký Lé Mé Ně`),
		strings.Fields(`ka le mi no ra sé tá vo la ne ři zi ma to re li ó é`),
		strings.Fields(`ller tner ñez cik ström nig ger hm lik ović šić dek řák wski gard sen rez rault nger lund lä
		ński čný sson ña ção dóttir ğlu ü šek ská nyi hegyi czyk gård lóf mér ndez ès ôt ão ău țescu șan`),
	}
	accentedGiven = strings.Fields(`José Łukasz Zoë Søren Jürgen André François Björn Çağla Čeněk Małgorzata Inés ` +
		`Jiří Åsa Tünde`)
	cyrillicGiven = strings.Fields(`Ольга Иван Анна Сергей Елена Дмитрий Наталья Алексей Татьяна Юрий Мария Олександр
		Зорица Петър Бојан`)
	cyrillicStems = strings.Fields(`Иван Петр Сидор Кузнец Смирн Поп Волк Сокол Мороз Лебед Козл Новик Бел Черн Крас
		Зимин Орл Гус Тар Кар Мал Дол Бор Гор Вас Мих Степ Фед Яков Захар Коваль Бондар Шевч Ткач Мельни Кравч Руд Лис
		Сав Ром`)
	cyrillicLinks = strings.Fields(`о е ен ов ин ан ар ик ч ц ев ир ол ам`)
	cyrillicEnds  = strings.Fields(`ов ова ин ина енко ский ская ук юк ич ко ев ева ян`)
	otherScripts  = [][2][]string{
		{strings.Fields(`Νίκος Μαρία Γιώργος Ελένη`),
			strings.Fields(`Παπαδόπουλος Γεωργίου Νικολάου Οικονόμου Δημητρίου`)},
		{strings.Fields(`يوسف محمد فاطمة أحمد ليلى`), strings.Fields(`حداد خوري منصور صالح ناصر النجار`)},
		{strings.Fields(`美咲 太郎 花子 健`), strings.Fields(`田中 佐藤 鈴木 高橋 渡辺`)},
		{strings.Fields(`अनिता राहुल प्रिया`), strings.Fields(`शर्मा कुमार सिंह पटेल`)},
	}
	otherTrades = []string{"Café ", "& Söhne ", "Café & Crème ", "Höfe ", "商事", "Северный ветер ", "Błękitna Fala ",
		"Építő "}
	otherForms = []string{"AG", "SARL", "株式会社", "ООО", "sp. z o.o.", "Zrt.", "A.Ş.", "ΑΕ"}
)
