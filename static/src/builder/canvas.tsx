/** The drawing area. */

import {
  Background,
  BackgroundVariant,
  type Connection as FlowConnection,
  MarkerType,
  MiniMap,
  type NodeChange,
  type OnConnectEnd,
  type OnNodeDrag,
  ReactFlow,
  type ReactFlowInstance,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import { type DragEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Position } from "../graph/definition";
import { updateEdge } from "../graph/edit";
import { worst } from "../graph/issue";
import { absolutePositions } from "../graph/layout";
import { type Connection, whyNotConnect } from "../graph/rules";
import { metrics, sizesOf } from "../graph/sizes";
import { ancestors, nodeById, whyNotInside, whyNotMove, withDescendants } from "../graph/tree";
import type { Builder } from "./builder";
import { Card } from "./card";
import { ContainerFrame } from "./container";
import { useBuilder, useDocument, useIssuesByNode, useUi } from "./context";
import { type CardNode, fromHandle, type LineEdge, toEdges, toNodes } from "./flow";
import { Line } from "./line";
import { ZoomBar } from "./toolbar";

const nodeTypes = { card: Card, container: ContainerFrame };
const edgeTypes = { line: Line };
const edgeOptions = {
  markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18, markerUnits: "userSpaceOnUse" },
  interactionWidth: 18,
};
export const dragType = "application/x-sluice-kind";
const grid: [number, number] = [metrics.grid, metrics.grid];
const additive = ["Meta", "Control", "Shift"];

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
function useDragging(b: Builder) {
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
function useConnecting(b: Builder) {
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
function useDrops(b: Builder) {
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

function isInside(el: HTMLElement, box: HTMLElement | null): boolean {
  const [a, r] = [el.getBoundingClientRect(), box?.getBoundingClientRect() ?? new DOMRect()];
  return a.left >= r.left && a.right <= r.right && a.top >= r.top && a.bottom <= r.bottom;
}

function useView(b: Builder, box: React.RefObject<HTMLDivElement | null>): void {
  const flow = useReactFlow<CardNode, LineEdge>();
  useEffect(() => {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const duration = still ? 0 : 200;
    b.view = {
      center() {
        const r = box.current?.getBoundingClientRect() ?? new DOMRect();
        return flow.screenToFlowPosition({ x: r.x + r.width / 2, y: r.y + r.height / 2 });
      },
      fit(ids) {
        const nodes = ids ? { nodes: ids.map((id) => ({ id })) } : {};
        void flow.fitView({ ...nodes, padding: ids ? 0.4 : 0.08, maxZoom: 1, duration });
      },
      zoom(by) {
        const zoom = by === "reset" ? 1 : flow.getZoom() * by;
        void flow.zoomTo(zoom, { duration });
      },
      focus(id) {
        setTimeout(() => {
          const el = box.current?.querySelector<HTMLElement>(
            `.react-flow__node[data-id="${CSS.escape(id)}"]`,
          );
          el?.focus({ preventScroll: true });
          if (el && !isInside(el, box.current)) this.fit([id]);
        }, 50);
      },
    };
    return () => {
      b.view = null;
    };
  }, [b, flow, box]);
}

/** Below this a title can't be read. */
const readable = 0.55;

/** Shows all of it, or where it starts when all of it would be too small to read. */
function open(flow: ReactFlowInstance<CardNode, LineEdge>, box: HTMLElement | null, b: Builder): void {
  if (box === null || b.definition.nodes.length === 0) return;
  const bounds = flow.getNodesBounds(b.definition.nodes.map((n) => n.id));
  const { width, height } = box.getBoundingClientRect();
  const pad = 40;
  const fits = Math.min((width - 2 * pad) / bounds.width, (height - 2 * pad) / bounds.height);
  if (fits >= readable) {
    const zoom = Math.min(1, fits);
    const x = (width - bounds.width * zoom) / 2 - bounds.x * zoom;
    void flow.setViewport({ x, y: (height - bounds.height * zoom) / 2 - bounds.y * zoom, zoom });
    return;
  }
  const start = b.definition.nodes.find((n) => n.type === "trigger")?.position ?? {
    x: bounds.x,
    y: bounds.y,
  };
  const y =
    bounds.height * readable < height - 2 * pad
      ? height / 2 - (bounds.y + bounds.height / 2) * readable
      : height / 2 - start.y * readable;
  void flow.setViewport({ x: pad - bounds.x * readable, y, zoom: readable });
}

function useFlowNodes(b: Builder, drag: ReadonlyMap<string, Position> | null): CardNode[] {
  const { definition } = useDocument();
  const { nodes: selected, dropInto } = useUi();
  const issuesOf = useIssuesByNode();
  const before = useRef<ReadonlyMap<string, CardNode>>(new Map());
  return useMemo(() => {
    const nodes = toNodes({ definition, kinds: b.kinds, selected, issuesOf, dropInto, drag }, before.current);
    before.current = new Map(nodes.map((n) => [n.id, n]));
    return nodes;
  }, [definition, b.kinds, selected, issuesOf, dropInto, drag]);
}

export function Canvas() {
  const b = useBuilder();
  const box = useRef<HTMLDivElement>(null);
  const { definition } = useDocument();
  const { edges: selectedEdges, issues } = useUi();
  const dragging = useDragging(b);
  const connecting = useConnecting(b);
  const drops = useDrops(b);
  useView(b, box);
  const nodes = useFlowNodes(b, dragging.drag);
  const edges = useMemo(
    () => toEdges(definition, b.kinds, selectedEdges, issues),
    [definition, b.kinds, selectedEdges, issues],
  );
  const onNodesChange = useNodeChanges(b, dragging.onPositions);

  return (
    <section className="bld-canvas" ref={box} aria-label="Canvas">
      <ReactFlow<CardNode, LineEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        defaultEdgeOptions={edgeOptions}
        defaultMarkerColor={null}
        onNodesChange={onNodesChange}
        onEdgesChange={(changes) => {
          const next = new Set(b.ui.get().edges);
          for (const c of changes) if (c.type === "select") c.selected ? next.add(c.id) : next.delete(c.id);
          if (changes.some((c) => c.type === "select")) b.ui.set({ edges: next });
        }}
        onNodeClick={() => b.ui.set({ sheet: true, panel: "settings" })}
        onEdgeClick={() => b.ui.set({ sheet: true, panel: "settings" })}
        onPaneClick={() => b.clearSelection()}
        onNodeDragStart={dragging.start}
        onNodeDrag={dragging.during}
        onNodeDragStop={dragging.stop}
        onSelectionDragStart={dragging.start}
        onSelectionDrag={(e, dragged) => dragging.during(e.nativeEvent, dragged[0] as CardNode, dragged)}
        onSelectionDragStop={(e, dragged) => dragging.stop(e.nativeEvent, dragged[0] as CardNode, dragged)}
        isValidConnection={connecting.isValid}
        onConnect={connecting.onConnect}
        onConnectEnd={connecting.onConnectEnd}
        onReconnect={connecting.onReconnect}
        onDragOver={drops.over}
        onDragLeave={() => b.ui.set({ dropInto: null })}
        onDrop={(e) => void drops.drop(e)}
        connectionRadius={32}
        snapToGrid
        snapGrid={grid}
        onInit={(flow) => void open(flow, box.current, b)}
        minZoom={0.1}
        maxZoom={2}
        selectionMode={SelectionMode.Partial}
        multiSelectionKeyCode={additive}
        deleteKeyCode={null}
        elevateNodesOnSelect={false}
        onlyRenderVisibleElements={nodes.length > 150}
        nodeDragThreshold={3}
        zoomOnDoubleClick={false}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.25} />
        <MiniMap<CardNode>
          pannable
          zoomable
          ariaLabel="Overview"
          nodeClassName={(n) => `bm bm--${worst(n.data.issues) ?? "none"} bm--${n.type ?? ""}`}
          nodeBorderRadius={6}
        />
      </ReactFlow>
      <ZoomBar />
      {definition.nodes.length === 0 && <EmptyCanvas />}
    </section>
  );
}

function useNodeChanges(b: Builder, onPositions: (moved: ReadonlyMap<string, Position>) => void) {
  return useCallback(
    (changes: NodeChange<CardNode>[]) => {
      const moved = new Map<string, Position>();
      const selected = new Set(b.ui.get().nodes);
      let changed = false;
      for (const c of changes) {
        if (c.type === "position" && c.position) moved.set(c.id, c.position);
        if (c.type !== "select") continue;
        changed = true;
        if (c.selected) selected.add(c.id);
        else selected.delete(c.id);
      }
      if (changed) b.ui.set({ nodes: selected, focusField: "" });
      if (moved.size > 0) onPositions(moved);
    },
    [b, onPositions],
  );
}

function EmptyCanvas() {
  const b = useBuilder();
  return (
    <div className="bld-empty">
      <h2>Start with a trigger</h2>
      <p>It holds the input of a run. Everything else follows it.</p>
      <div className="bld-row">
        <button
          type="button"
          className="bt bt--primary"
          onClick={() => b.add("trigger", { at: null, parent: "", from: null, edge: null })}
        >
          Add a trigger
        </button>
        <button type="button" className="bt" onClick={() => b.ui.set({ adding: b.addTarget() })}>
          Choose a step <kbd>/</kbd>
        </button>
      </div>
      <p className="bld-muted">Or drop a workflow file here.</p>
    </div>
  );
}
