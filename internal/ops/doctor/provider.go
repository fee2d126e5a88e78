package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"secateur/internal/secret"
)

const (
	providerTime = 10 * time.Second // response timeout
	skewWarn     = time.Minute      // clock skew; tokens and signatures have this much leeway
	skewFail     = 5 * time.Minute
)

// CheckProvider requests a provider's list of models, which is free. It also compares the clock
// with the date of the response.
func CheckProvider(name, base string, key secret.Text, now func() time.Time) Check {
	return func(ctx context.Context) []Finding {
		f := Finding{Check: Provider, Subject: name, Level: OK}
		shown := secret.URL(base)
		ctx, cancel := context.WithTimeout(ctx, providerTime)
		defer cancel()
		res, err := askModels(ctx, base, key)
		if err != nil {
			f.Level, f.Cause, f.Fix = Fail, fmt.Sprintf("%s: %v", shown, secret.WithoutURL(err)), "correct base_url of the provider "+name+", or the network between"
			return []Finding{f}
		}
		_ = res.Body.Close()
		switch refused := res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden; {
		case refused && key.IsZero():
			f.Cause = shown + " answers; it wants a key, and the client's own is passed on"
		case refused:
			f.Level, f.Cause, f.Fix = Fail, fmt.Sprintf("%s refuses the key (HTTP %d)", shown, res.StatusCode), "put another into the variable that api_key names"
		case res.StatusCode >= http.StatusInternalServerError:
			f.Level, f.Cause, f.Fix = Warn, fmt.Sprintf("%s answers with HTTP %d", shown, res.StatusCode), "try again later"
		default:
			f.Cause = shown + " answers"
		}
		findings := []Finding{f}
		if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			findings = append(findings, clock(name, now().Sub(date)))
		}
		return findings
	}
}

func askModels(ctx context.Context, base string, key secret.Text) (*http.Response, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("not a URL") // the error would repeat it
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("models").String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if !key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+key.Reveal())
		req.Header.Set("X-Api-Key", key.Reveal())
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client.Do(req)
}

func clock(provider string, off time.Duration) Finding {
	f := Finding{Check: Clock, Subject: provider, Level: OK, Cause: "as the provider's, to the minute"}
	if off.Abs() < skewWarn {
		return f
	}
	f.Level, f.Cause, f.Fix = Warn, fmt.Sprintf("%s off the provider's", off.Abs().Round(time.Second)), "set the clock, best with NTP: tokens and signatures carry times"
	if off.Abs() >= skewFail {
		f.Level = Fail
	}
	return f
}
