/** The panel at the side: the selected span, or the run. */

import { useFeed, useInspector, useUi } from "../context";
import { runSpan } from "../inspector";
import { RunDetail } from "./run";
import { StepDetail } from "./step";

/** The span behind a row: a page of a loop stands for the loop. */
function spanIdOf(key: string, known: (id: string) => boolean): string {
  if (known(key)) return key;
  const loop = key.replace(/\[\d+…\]$/, "");
  return known(loop) ? loop : runSpan;
}

export function Detail() {
  const i = useInspector();
  useFeed();
  const { active } = useUi();
  const id = spanIdOf(active, (k) => i.feed.spans.get(k) !== undefined);
  const node = id === runSpan ? undefined : i.node(id);
  return (
    <section className="dt" aria-label="Detail">
      {node === undefined ? <RunDetail /> : <StepDetail key={id} node={node} />}
    </section>
  );
}
