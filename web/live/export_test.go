package live

import "time"

// SetPings changes the time between two pings, for clients that come later.
func (s *Server) SetPings(d time.Duration) { s.pings = d }
