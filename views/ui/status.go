package ui

// Status is how a status looks: its words, its icon and its colour. It is told
// apart by the icon as well as by the colour.
type Status struct {
	Label string
	Icon  string
	Tone  string // of the badge
	Spin  bool
}

// StatusOf describes the status of a run or an approval.
func StatusOf(status string) Status {
	switch status {
	case "queued":
		return Status{"Queued", "circle-dashed", "", false}
	case "running":
		return Status{"Running", "loader-circle", "info", true}
	case "pending_approval":
		return Status{"Needs approval", "user-check", "warning", false}
	case "waiting":
		return Status{"Waiting", "clock", "", false}
	case "succeeded":
		return Status{"Succeeded", "circle-check", "success", false}
	case "failed":
		return Status{"Failed", "circle-x", "danger", false}
	case "rejected":
		return Status{"Rejected", "x", "danger", false}
	case "cancelled":
		return Status{"Cancelled", "ban", "", false}
	case "pending":
		return Status{"Pending", "user-check", "warning", false}
	case "decided":
		return Status{"Decided", "check", "success", false}
	case "closed":
		return Status{"Closed", "ban", "", false}
	default:
		return Status{status, "circle-dashed", "", false}
	}
}

func (s Status) iconClass() string {
	if s.Spin {
		return "spin"
	}
	return ""
}

func (s Status) class() string {
	if s.Tone == "" {
		return "badge"
	}
	return "badge badge-" + s.Tone
}
