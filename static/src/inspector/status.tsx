/** Statuses: each has its icon, so that none is told by colour alone. */

import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleMinus,
  CirclePause,
  CircleX,
  Clock,
  LoaderCircle,
  type LucideIcon,
  OctagonX,
  RotateCw,
  UserCheck,
} from "lucide-react";

export type StatusTone = "success" | "danger" | "active" | "wait" | "ask" | "retry" | "quiet";
type Look = { label: string; tone: StatusTone; Icon: LucideIcon };

const looks: Record<string, Look> = {
  queued: { label: "Queued", tone: "quiet", Icon: CircleDashed },
  running: { label: "Running", tone: "active", Icon: LoaderCircle },
  retrying: { label: "Waiting to retry", tone: "retry", Icon: RotateCw },
  parked: { label: "Waiting", tone: "wait", Icon: CirclePause },
  pending_approval: { label: "Needs approval", tone: "ask", Icon: UserCheck },
  waiting: { label: "Waiting", tone: "wait", Icon: Clock },
  succeeded: { label: "Succeeded", tone: "success", Icon: CircleCheck },
  failed: { label: "Failed", tone: "danger", Icon: CircleX },
  rejected: { label: "Rejected", tone: "danger", Icon: OctagonX },
  skipped: { label: "Skipped", tone: "quiet", Icon: CircleMinus },
  cancelled: { label: "Cancelled", tone: "quiet", Icon: Ban },
};

const unreached: Look = { label: "Not reached", tone: "quiet", Icon: CircleDashed };

export function lookOf(status: string): Look {
  return looks[status] ?? (status === "" ? unreached : { ...unreached, label: status });
}

export function StatusIcon({ status, size = 14 }: { status: string; size?: number }) {
  const { tone, Icon } = lookOf(status);
  return (
    <span className="st" data-tone={tone} data-status={status}>
      <Icon size={size} aria-hidden="true" />
    </span>
  );
}

export function StatusBadge({ status }: { status: string }) {
  const { label, tone } = lookOf(status);
  return (
    <span className="st-badge" data-tone={tone}>
      <StatusIcon status={status} />
      {label}
    </span>
  );
}
