package wire

import (
	"strconv"
	"strings"
)

// canonicalNumber returns the same text for all JSON numbers of equal value: digits without leading
// or trailing zeros, then e and a power of ten. It works on the digits only, so the cost of
// 1e999999999 depends on its length only.
func canonicalNumber(text string) string {
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	exponent := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i+1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	shift := -len(fraction)
	all := len(digits)
	digits = strings.TrimRight(digits, "0")
	shift += all - len(digits)
	if digits == "" {
		return "0"
	}
	return sign + digits + "e" + addToDecimal(exponent, shift)
}

// addToDecimal returns decimal + n. decimal may have any length, a sign and leading zeros; "" means
// 0.
func addToDecimal(decimal string, n int) string {
	negative := strings.HasPrefix(decimal, "-")
	decimal = strings.TrimLeft(strings.TrimLeft(decimal, "+-"), "0")
	const short = 18 // this many digits fit into an int64 with room for n
	if len(decimal) <= short {
		v, _ := strconv.ParseInt("0"+decimal, 10, 64)
		if negative {
			v = -v
		}
		return strconv.FormatInt(v+int64(n), 10)
	}
	// Add digit by digit. The sum keeps its sign because n is far smaller.
	sum := []byte(decimal)
	if negative {
		n = -n
	}
	for i := len(sum) - 1; n != 0 && i >= 0; i-- {
		n += int(sum[i] - '0')
		digit := n % 10
		if digit < 0 {
			digit += 10
		}
		sum[i] = byte('0' + digit)
		n = (n - digit) / 10
	}
	out := strings.TrimLeft(strconv.Itoa(n)+string(sum), "0") // n is the remaining carry
	if negative {
		return "-" + out
	}
	return out
}
