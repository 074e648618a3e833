/** What the pointer does on the canvas: dragging, connecting, dropping. */

import {
  type Connection as FlowConnection,
  type OnConnectEnd,
  type OnNodeDrag,
  useReactFlow,
} from "@xyflow/react";
import { type DragEvent, useCallback, useRef, useState } from "react";
import type { Position } from "../graph/definition";
import { updateEdge } from "../graph/edit";
import { absolutePositions } from "../graph/layout";
import { type Connection, whyNotConnect } from "../graph/rules";
import { metrics, sizesOf } from "../graph/sizes";
import { ancestors, nodeById, whyNotInside, whyNotMove, withDescendants } from "../graph/tree";
import type { Builder } from "./builder";
import { type CardNode, fromHandle, type LineEdge } from "./flow";

/** The type under which the palette hands over a kind. */
export const dragType = "application/x-sluice-kind";

type Point = { x: number; y: number };

function pointOf(e: MouseEvent | TouchEvent | React.MouseEvent): Point {
  const p = "changedTouches" in e ? (e.changedTouches[0] ?? { clientX: 0, clientY: 0 }) : e;
  return { x: p.clientX, y: p.clientY };
}

/** The innermost container at a point of the canvas that is not being dragged itself. */
function containerAt(b: Builder, p: Point, dragged: ReadonlySet<string>): string {
  const d = b.definition;
  const sizes = sizesOf(d, b.kinds);
  const corners = absolutePositions(d);
  let best = "";
  let depth = -1;
  for (const n of d.nodes) {
    if (b.spec(n.type).container === "" || dragged.has(n.id)) continue;
    const [at, size] = [corners.get(n.id), sizes.get(n.id)];
    if (!at || !size || p.x < at.x || p.y < at.y || p.x > at.x + size.width || p.y > at.y + size.height)
      continue;
    const own = ancestors(d, n.id).length;
    if (own > depth) {
      best = n.id;
      depth = own;
    }
  }
  return best;
}

/** Dragging: positions follow the pointer here and reach the document once, at the end. */
export function useDragging(b: Builder) {
  const flow = useReactFlow<CardNode, LineEdge>();
  const [drag, setDrag] = useState<ReadonlyMap<string, Position> | null>(null);
  const active = useRef(false);

  const start = useCallback(() => {
    active.current = true;
  }, []);

  const onPositions = useCallback(
    (moved: ReadonlyMap<string, Position>) => {
      if (active.current) setDrag((old) => new Map([...(old ?? []), ...moved]));
      // The arrow keys move without a drag.
      else b.edit("Move", (d) => ({ ...d, nodes: d.nodes.map((n) => moveTo(n, moved.get(n.id))) }), "arrows");
    },
    [b],
  );

  const target = useCallback(
    (e: MouseEvent | TouchEvent | React.MouseEvent, nodes: CardNode[]) => {
      const ids = withDescendants(
        b.definition,
        nodes.map((n) => n.id),
      );
      const into = containerAt(b, flow.screenToFlowPosition(pointOf(e), { snapToGrid: false }), ids);
      const reason = nodes
        .filter((n) => (n.parentId ?? "") !== into)
        .map((n) => whyNotMove(b.definition, b.kinds, n.id, into))
        .find((r) => r !== null);
      return { into, reason: reason ?? null };
    },
    [b, flow],
  );

  const during: OnNodeDrag<CardNode> = useCallback(
    (e, _, nodes) => {
      const { into, reason } = target(e, nodes);
      const show = reason === null && into !== "" && nodes.some((n) => n.parentId !== into) ? into : null;
      if (b.ui.get().dropInto !== show) b.ui.set({ dropInto: show });
    },
    [b, target],
  );

  const stop: OnNodeDrag<CardNode> = useCallback(
    (e, _, nodes) => {
      active.current = false;
      const { into, reason } = target(e, nodes);
      const moved = nodes.some((n) => {
        const p = nodeById(b.definition, n.id)?.position;
        return p?.x !== n.position.x || p?.y !== n.position.y;
      });
      if (reason !== null) b.toast(reason);
      else if (moved) b.drop(new Map(nodes.map((n) => [n.id, n.position])), into === "" ? null : into);
      setDrag(null);
      b.ui.set({ dropInto: null });
    },
    [b, target],
  );
  return { drag, start, during, stop, onPositions };
}

function moveTo<T extends { position: Position | null }>(n: T, p: Position | undefined): T {
  return p === undefined ? n : { ...n, position: { ...n.position, ...p } };
}

function read(c: FlowConnection | LineEdge): Connection {
  return { source: c.source, target: c.target, handle: fromHandle(c.sourceHandle) };
}

/** Connecting: valid ends light up, a drop on nothing offers a new step. */
export function useConnecting(b: Builder) {
  const flow = useReactFlow<CardNode, LineEdge>();
  const isValid = useCallback(
    (c: FlowConnection | LineEdge) => whyNotConnect(b.definition, b.kinds, read(c)) === null,
    [b],
  );
  const onConnect = useCallback((c: FlowConnection) => b.connect(read(c)), [b]);
  const onConnectEnd: OnConnectEnd = useCallback(
    (e, state) => {
      if (state.isValid || !state.fromNode) return;
      const source = state.fromNode.id;
      const handle = fromHandle(state.fromHandle?.id);
      if (state.toNode) {
        const reason = whyNotConnect(b.definition, b.kinds, { source, target: state.toNode.id, handle });
        if (reason !== null && state.toNode.id !== source) b.toast(reason);
        return;
      }
      if (state.fromHandle?.type !== "source") return;
      const p = flow.screenToFlowPosition(pointOf(e));
      const parent = nodeById(b.definition, source)?.parent ?? "";
      b.ui.set({
        adding: { at: { x: p.x, y: p.y - metrics.header / 2 }, parent, from: { source, handle }, edge: null },
      });
    },
    [b, flow],
  );
  const onReconnect = useCallback(
    (edge: LineEdge, c: FlowConnection) => {
      const without = { ...b.definition, edges: b.definition.edges.filter((e) => e.key !== edge.id) };
      const reason = whyNotConnect(without, b.kinds, read(c));
      if (reason !== null) b.toast(reason);
      else b.edit("Reconnect", (d) => updateEdge(d, edge.id, read(c)));
    },
    [b],
  );
  return { isValid, onConnect, onConnectEnd, onReconnect };
}

/** Kinds from the palette and files from the desk, dropped onto the canvas. */
export function useDrops(b: Builder) {
  const flow = useReactFlow<CardNode, LineEdge>();
  const over = useCallback(
    (e: DragEvent) => {
      e.preventDefault();
      const into = containerAt(b, flow.screenToFlowPosition({ x: e.clientX, y: e.clientY }), new Set());
      if (b.ui.get().dropInto !== (into || null)) b.ui.set({ dropInto: into || null });
    },
    [b, flow],
  );
  const drop = useCallback(
    async (e: DragEvent) => {
      e.preventDefault();
      b.ui.set({ dropInto: null });
      const file = e.dataTransfer.files[0];
      if (file) {
        b.ui.set({
          dialog: { kind: "import", text: await file.text(), name: file.name.replace(/\.json$/i, "") },
        });
        return;
      }
      const type = e.dataTransfer.getData(dragType);
      if (type === "") return;
      const p = flow.screenToFlowPosition({
        x: e.clientX - metrics.nodeWidth / 3,
        y: e.clientY - metrics.header / 2,
      });
      const pointer = flow.screenToFlowPosition({ x: e.clientX, y: e.clientY });
      const into = containerAt(b, pointer, new Set());
      const container = nodeById(b.definition, into);
      // A branch dropped beside the branches of a parallel belongs to it.
      const fits = whyNotInside(b.spec(type), container ? b.spec(container.type) : null) === null;
      const beside = !fits && b.spec(type).container === "branch" && container !== undefined;
      b.add(type, { at: p, parent: beside ? container.parent : into, from: null, edge: null });
    },
    [b, flow],
  );
  return { over, drop };
}
