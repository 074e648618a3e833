package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// chunk is one event of a stream, or a whole answer.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *tokenUsage     `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        message `json:"delta"`
	Message      message `json:"message"`
	FinishReason string  `json:"finish_reason"`
}

type message struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
}

type tokenUsage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	Details          struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// answer gathers what a server says.
type answer struct {
	text    strings.Builder
	refusal strings.Builder
	resp    Response
}

// whole reads an answer that is one JSON document.
func (a *answer) whole(r io.Reader, onDelta func(string)) (Response, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return a.response(), err
	}
	var c chunk
	if err := json.Unmarshal(b, &c); err != nil {
		return a.response(), &Error{Code: CodeProtocol, Message: "the model server's answer is not JSON: " + Excerpt(string(b)), Retryable: true, Err: err}
	}
	if err := a.take(c, onDelta); err != nil {
		return a.response(), err
	}
	if len(c.Choices) == 0 {
		return a.response(), &Error{Code: CodeProtocol, Message: "the model server's answer has no choices: " + Excerpt(string(b)), Retryable: true}
	}
	return a.end()
}

// stream reads server-sent events: lines end in LF or CRLF, comments are skipped,
// several data lines make one event, an empty line ends it.
func (a *answer) stream(r io.Reader, onDelta func(string)) (Response, error) {
	br := bufio.NewReader(r)
	var data []byte
	var done bool
	for !done {
		line, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			if a.resp.FinishReason != "" {
				break // all of the answer had come
			}
			return a.response(), err
		}
		line = bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		}
		if (len(line) == 0 || err != nil) && len(data) > 0 {
			var eventErr error
			if done, eventErr = a.event(data, onDelta, err != nil); eventErr != nil {
				return a.response(), eventErr
			}
			data = data[:0]
		}
		if err != nil {
			break
		}
	}
	return a.end()
}

// event takes one event in. At the end of a stream it may be half an event.
func (a *answer) event(data []byte, onDelta func(string), last bool) (done bool, err error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		return true, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if last {
			return true, nil // cut: end decides whether the answer was whole
		}
		return false, &Error{Code: CodeProtocol, Message: "the model server sent an event that is not JSON: " + Excerpt(string(data)), Retryable: true, Err: err}
	}
	return false, a.take(c, onDelta)
}

func (a *answer) take(c chunk, onDelta func(string)) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		detail, _ := describe(fmt.Appendf(nil, `{"error":%s}`, c.Error))
		return &Error{Code: CodeUnavailable, Message: "the model server reported an error: " + detail, Retryable: true}
	}
	if c.Model != "" {
		a.resp.Model = c.Model
	}
	if c.Usage != nil {
		a.resp.Usage = Usage{
			InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens, CachedTokens: c.Usage.Details.CachedTokens,
		}
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue
		}
		if ch.FinishReason != "" {
			a.resp.FinishReason = ch.FinishReason
		}
		a.refusal.WriteString(ch.Delta.Refusal + ch.Message.Refusal)
		if text := ch.Delta.Content + ch.Message.Content; text != "" {
			a.text.WriteString(text)
			onDelta(text)
		}
	}
	return nil
}

func (a *answer) response() Response {
	r := a.resp
	r.Text = a.text.String()
	return r
}

// end judges what was gathered. An answer that did not say how it finished was cut.
func (a *answer) end() (Response, error) {
	r := a.response()
	switch {
	case a.refusal.Len() > 0:
		return r, &Error{Code: CodeFiltered, Message: "the model declined: " + Excerpt(a.refusal.String())}
	case r.FinishReason == "":
		return r, &Error{Code: CodeUnavailable, Message: fmt.Sprintf("the model's answer broke off after %d characters", len(r.Text)), Retryable: true}
	case r.Text == "" && r.FinishReason == "stop":
		return r, &Error{Code: CodeBadOutput, Message: "the model's answer is empty", Retryable: true}
	}
	return r, nil
}
