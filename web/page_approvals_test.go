package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"sluice/models"
	"sluice/web/app"
)

func TestWhatIsApprovedUntouchedStaysAsItWas(t *testing.T) {
	t.Parallel()
	const form = `{"type":"object","properties":{"z":{"type":"string"},"n":{"type":"integer"},"ok":{"type":"boolean"},"kind":{"enum":["a","b"]}}}`
	for name, test := range map[string]struct{ content, schema string }{
		"text":                         {`"one line"`, ""},
		"lines":                        {`"one\ntwo\n\nthree\n"`, ""},
		"a line end at the start":      {`"\nfirst"`, ""},
		"line ends of Windows":         {`"one\r\ntwo"`, ""},
		"value":                        {`{"z":1,"a":[1,2]}`, ""},
		"big numbers":                  {`{"price":9007199254740993}`, ""},
		"fields":                       {`{"z":"x","n":3,"ok":true,"kind":"b"}`, form},
		"fields that the form has not": {`{"a":"kept","z":"x","n":3,"ok":false,"kind":"a","more":{"deep":[1]}}`, form},
		"fields that are absent":       {`{"n":3}`, form},
		"lines in a field":             {`{"z":"one\ntwo\n","n":3,"ok":true,"kind":"a"}`, form},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			config := `{"content":` + test.content
			if test.schema != "" {
				config += `,"schema":` + test.schema
			}
			id := s.approval(config + `}`)
			v := s.get("/approvals/" + id).form("form[data-decide]")
			v.Set("outcome", "approve")
			s.post(http.StatusSeeOther, "/approvals/"+id+"/decisions", v)
			require.Equal(t, test.content, s.decision(id).Data)
		})
	}
}

func TestAFormIsShownWhereThereIsNothingToReviewYet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"title":"Which?","schema":{"type":"object","required":["city"],"properties":{"city":{"type":"string","title":"City"}}}}`)
	page := s.get("/approvals/" + id)
	require.Equal(t, "City", page.Find("form[data-decide] fieldset label").Text())
	v := page.form("form[data-decide]")
	v.Set("outcome", "approve")
	refused := s.post(http.StatusUnprocessableEntity, "/approvals/"+id+"/decisions", v)
	require.Contains(t, refused.Find(".letter .notice").Text(), "city", "the message names the field")
	v.Set("field:city", "京都")
	s.post(http.StatusSeeOther, "/approvals/"+id+"/decisions", v)
	require.JSONEq(t, `{"city":"京都"}`, s.decision(id).Data)
}

func TestContentThatDoesNotFitCanBeRejected(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"content":{"n":"many"},"schema":{"type":"object","properties":{"n":{"type":"integer"}}}}`)
	v := s.get("/approvals/" + id).form("form[data-decide]")
	v.Set("outcome", "approve")
	s.post(http.StatusUnprocessableEntity, "/approvals/"+id+"/decisions", v)
	require.Nil(t, s.decision(id))
	v.Set("outcome", "reject")
	s.post(http.StatusSeeOther, "/approvals/"+id+"/decisions", v)
	require.Equal(t, "reject", s.decision(id).Outcome)
}

func TestARefusedAnswerLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"content":"draft","outcomes":[{"id":"approve"},{"id":"back","label":"Send back","require_comment":true}]}`)
	form := s.get("/approvals/" + id).form("form[data-decide]")
	form.Set("data", "edited\r\n<b>text</b>")
	form.Set("outcome", "back")
	page := s.post(http.StatusUnprocessableEntity, "/approvals/"+id+"/decisions", form)
	require.Contains(t, page.Find(".letter .notice").Text(), "needs a comment")
	require.Equal(t, "edited\n<b>text</b>", strings.ReplaceAll(page.Find("#data").Text(), "\r\n", "\n"))
	require.Nil(t, s.decision(id), "it is still pending")
	form.Set("comment", "Too short")
	s.post(http.StatusSeeOther, "/approvals/"+id+"/decisions", form)
	require.Equal(t, "Too short", s.decision(id).Comment)
}

func TestTheNextApprovalIsOpenedAndTheSearchStays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	oldest := s.approval(`{"title":"red 1"}`)
	s.approval(`{"title":"blue"}`)
	middle := s.approval(`{"title":"red 2"}`)
	newest := s.approval(`{"title":"red 3"}`)
	decide := func(id string) string {
		a := s.post(http.StatusSeeOther, "/approvals/"+id+"/decisions", url.Values{"outcome": {"approve"}, "q": {"red"}})
		return a.header.Get("Location")
	}
	require.Equal(t, "/approvals/"+oldest+"?q=red", decide(middle), "the one below")
	require.Equal(t, "/approvals/"+newest+"?q=red", decide(oldest), "the last one: the first of those left")
	require.Equal(t, "/approvals?q=red", decide(newest))
}

func TestTheSecondAnswerIsToldWhoWasFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"title":"Once"}`)
	_, err := s.w.App.Decide(t.Context(), s.member(models.RoleAdmin), id, app.Decision{Outcome: "reject", Comment: "no"})
	require.NoError(t, err)
	page := s.post(http.StatusConflict, "/approvals/"+id+"/decisions", url.Values{"outcome": {"approve"}})
	require.Contains(t, page.Find(".letter .notice").Text(), "The admin")
	require.Equal(t, 0, page.Find("form[data-decide]").Length())
	require.Contains(t, page.Find(".facts").Text(), "no")
}

func TestKeysOfAnswersDoNotCollide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"outcomes":[{"id":"approve"},{"id":"again"},{"id":"keep"},{"id":"ja"},{"id":"はい"},{"id":"Reject"}]}`)
	var keys []string
	for _, n := range s.get("/approvals/" + id).Find("button[name=outcome]").EachIter() {
		keys = append(keys, n.AttrOr("data-outcome-key", "?"))
	}
	require.Equal(t, []string{"a", "", "", "", "", "r"}, keys, "j and k walk through the list")
}

func TestTheListIsRefreshedWhereItStands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"title":"Here"}`)
	list := s.get("/approvals/" + id + "?q=here").Find("#list")
	require.Equal(t, "/approvals/"+id+"?q=here", list.AttrOr("hx-get", ""), "the open one stays marked")
	require.Equal(t, 1, list.Find("[aria-current=true]").Length())
}

func TestTheListSaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"body":"# Three **customers**\n\n- a & b <i>c</i>\n- d","outcomes":[{"id":"approve","label":"Ship it"}]}`)
	item := s.get("/approvals").Find("[data-row]")
	require.Equal(t, "Three customers a & b c d", item.Find(".preview").Text())
	s.post(http.StatusSeeOther, "/approvals/"+id+"/decisions", url.Values{"outcome": {"approve"}})
	require.Equal(t, "Ship it", s.get("/approvals?status=decided").Find("[data-row] .badge").Text())
}

func TestMarkdownIsRenderedAndHarmless(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := "# Title\n\n<script>alert(1)</script><img src=x onerror=alert(1)>\n\n[link](javascript:alert(1)) **bold**\n\n| a | b |\n|---|---|\n| 1 | 2 |"
	id := s.approval(`{"title":"<script>alert(2)</script>","body":` + quoted(body) + `}`)
	page := s.get("/approvals/" + id)
	require.Equal(t, "bold", page.Find(".prose strong").Text())
	require.Equal(t, 1, page.Find(".prose table").Length())
	require.Equal(t, 0, page.Find("main script, [onerror], a[href^='javascript:']").Length())
	require.Equal(t, "<script>alert(2)</script>", page.Find(".letter h2").Text())
}

func TestPicturesBecomeLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.get("/approvals/" + s.approval(`{"body":"![a *chart*](https://example.org/c.png) and ![](https://example.org/d.png)"}`))
	require.Equal(t, 0, page.Find(".prose img").Length())
	links := page.Find(".prose a[href^='https://example.org/']")
	require.Equal(t, []string{"a chart", "https://example.org/d.png"}, links.Map(func(_ int, l *goquery.Selection) string { return l.Text() }))
}
