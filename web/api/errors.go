package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/engine"
	"sluice/models"
)

// problem is an RFC 9457 error with what Sluice adds to it.
type problem struct {
	huma.ErrorModel
	Issues engine.Issues `json:"issues,omitempty"`
	// Of a stale draft.
	CurrentRevision int64      `json:"current_revision,omitempty"`
	UpdatedBy       string     `json:"updated_by,omitempty"`
	UpdatedAt       *time.Time `json:"updated_at,omitempty"`
}

func newProblem(status int, detail string) *problem {
	return &problem{ErrorModel: huma.ErrorModel{Status: status, Title: http.StatusText(status), Detail: detail}}
}

// fail turns an error into its answer: the only place that knows which is which.
func (h *handlers) fail(ctx context.Context, err error) error {
	var bad *engine.InvalidError
	var stale *models.StaleError
	var conflict *engine.ConflictError
	switch {
	case errors.As(err, &bad):
		p := newProblem(http.StatusUnprocessableEntity, bad.Message)
		p.Issues = bad.Issues
		for _, i := range bad.Issues {
			p.Errors = append(p.Errors, &huma.ErrorDetail{Location: location(i), Message: i.Message})
		}
		return p
	case errors.As(err, &stale):
		p := newProblem(http.StatusConflict, stale.Error())
		p.CurrentRevision, p.UpdatedBy, p.UpdatedAt = stale.Current, stale.UpdatedBy, &stale.UpdatedAt
		return p
	case errors.As(err, &conflict):
		return newProblem(http.StatusConflict, conflict.Message)
	case errors.Is(err, models.ErrNameTaken):
		p := newProblem(http.StatusUnprocessableEntity, "the name is taken")
		p.Errors = []*huma.ErrorDetail{{Location: "name", Message: "another one has this name"}}
		return p
	case errors.Is(err, models.ErrNotFound), errors.Is(err, engine.ErrNotFound):
		return newProblem(http.StatusNotFound, "there is nothing with this id")
	case errors.Is(err, models.ErrCursor):
		return newProblem(http.StatusBadRequest, err.Error())
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return newProblem(499, "the client went away")
	}
	h.Log.ErrorContext(ctx, "request failed", "err", err)
	return newProblem(http.StatusInternalServerError, "something went wrong here; the server's log says what")
}

func location(i engine.Issue) string {
	switch {
	case i.NodeID == "":
		return i.Field
	case i.Field == "":
		return i.NodeID
	default:
		return i.NodeID + "." + i.Field
	}
}
