package match

import (
	"testing"

	"sluice/shared/screening/watchlist"
)

// Pairs of names by the cause of their similarity or difference. The persons are invented.
func TestClassesOfNames(t *testing.T) {
	checkClasses(t, watchlist.Person, map[string][]namePair{
		"romanizations of Russian": {
			{"Велканов Сергей Юрьевич", "Sergej Welkanow", true},
			{"Евгения Хрущёва", "Evgeniya Khrushcheva", true},
			{"Евгения Велканова", "Jewgenija Welkanowa", true},
			{"Щербаков Алексей", "Aleksei Shcherbakov", true},
			{"Щербаков Алексей", "Alexey Scherbakov", true},
			{"Андрей Чайкин", "Andreï Tchaïkine", true},
			{"Жуков Юрий", "Iouri Joukov", true},
			{"Сергей Велканов", "Andrei Velkanov", false},
			{"Сергей Велканов", "Sergei Volkov", false},
		},
		"one name in Ukrainian, Belarusian and Russian": {
			{"Сергій Гриценко", "Sergei Gritsenko", true},
			{"Сяргей Рыбакоў", "Sergey Rybakov", true},
			{"Уладзімір Зайцаў", "Vladimir Zaytsev", true},
			{"Serhii Hrytsenko", "Sergei Gritsenko", true},
			{"Siarhei Rybakou", "Sergey Rybakov", true},
		},
		"letters of Arabic that stand for several sounds": {
			{"فضل الرحمن الزهراني", "Fazlurrahman Zahrani", true},
			{"كاظم ذاكر", "Kadhim Zakir", true},
			{"ثاقب رجب", "Saqib Ragab", true},
			{"إسحاق الأزهري", "Ishaq al-Azhari", true},
			{"طه الفاتح", "Taha Fatih", true},
			{"علوش القاسمي", "Alouche Gasmi", true},
			{"شفيق الله حقاني", "Shafiqullah Haqqani", true},
			{"عبدالحي مطمئن", "Abdul Hai Motmaen", true},
			{"عيسى الصبار", "Issa Essabar", true},
			{"حسين زارع", "Hassan Suri", false},
			{"حسن قاضي", "Hassan Hijazi", false},
			{"محمد حميدي", "Mohammad Ahmadi", false},
		},
		"typing errors": {
			{"Baid Velkanov", "Abid Velkanov", true},
			{"Adbul Karim Velkan", "Abdul Karim Velkan", true},
			{"Kim Jong-uun", "Kim Jong-un", true},
			{"Anatoly Velkanvo", "Anatoly Velkanov", true},
			{"Ian Velkan", "Ina Velkan", false},
		},
		"parents and children": {
			{"Ahmad bin Hasan al-Velkani", "Hasan bin Ahmad al-Velkani", false},
			{"Ahmad bin Hasan al-Velkani", "Ahmad Hasan al-Velkani", true},
			{"Velkani, Ahmad bin Hasan", "Ahmad bin Hasan Velkani", true},
		},
	})
}

func TestClassesOfOrganisations(t *testing.T) {
	checkClasses(t, watchlist.Organisation, map[string][]namePair{
		"numbers": {
			{"Velkan Battalion 3", "Velkan Battalion 5", false},
			{"Velkan Capital Partners Battalion III", "Velkan Capital Partners Battalion IV", false},
			{"Velkan Capital Partners III", "Velkan Capital Partners III LP", true},
		},
		"translated words": {
			{"Минский завод колёсных тягачей «Велкан»", "Velkan Minsk Wheel Tractor Plant", true},
			{"Страховая компания «Велкан»", "Velkan Insurance Company", true},
			{"Велканский банк развития", "Velkan Development Company", false},
			{"شركة الولكان للنفط", "Al Wulkan Petroleum Company", true},
			{"جمعية الولكان الخيرية", "Wulkan Charity Association", true},
			{"المصرف التجاري السوري", "Commercial Bank of Syria", true},
			{"المصرف التجاري السوري", "Industrial Bank of Syria", false},
			{"شركة النفط السورية", "Iraqi Petroleum Company", false},
			{"First Velkan Bank", "1st Velkan Bank", true},
			{"Velkan Intl. Shipping Co.", "Velkan International Shipping Company", true},
		},
		"places": {
			{"Bank of China", "Sina Bank", false},
			{"Bank of Chima", "Bank of China", true},
			{"Syrian Velkan Company", "Libyan Velkan Company", false},
		},
		"organisation forms": {
			{"Velkan Maritime GmbH", "VELKAN MARITIME LLC", true},
			{"OOO Velkan", "Velkan", true},
			{"Velkan Maritime II Inc.", "Velkan Maritime III Inc.", false},
		},
	})
}

type namePair struct {
	a, b  string
	isHit bool
}

func checkClasses(t *testing.T, schema watchlist.Schema, classes map[string][]namePair) {
	for class, pairs := range classes {
		t.Run(class, func(t *testing.T) {
			for _, p := range pairs {
				if score := Pair(p.a, p.b, schema); score >= Threshold != p.isHit {
					t.Errorf("Pair(%q, %q) = %v, want a hit: %v", p.a, p.b, score, p.isHit)
				}
			}
		})
	}
}
