/** The number of pending approvals, for the badge in the sidebar and whoever lists them. */

import type { LiveClient } from "./client";
import type { InboxEvent } from "./frame";

export type InboxNews = { pending: number; event: InboxEvent | null };

/** Tells every change of the inbox until the returned function is called. */
export function watchInbox(client: LiveClient, told: (news: InboxNews) => void): () => void {
  return client.watch("inbox", {
    after: () => 0,
    frame(f) {
      if (f.type === "inbox") told({ pending: f.pending, event: f.event });
    },
  });
}
