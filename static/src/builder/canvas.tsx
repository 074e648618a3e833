/** The drawing area. */

import {
  Background,
  BackgroundVariant,
  MarkerType,
  MiniMap,
  type NodeChange,
  ReactFlow,
  type ReactFlowInstance,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Position } from "../graph/definition";
import { worst } from "../graph/issue";
import { metrics } from "../graph/sizes";
import type { Builder } from "./builder";
import { Card } from "./card";
import { ContainerFrame } from "./container";
import { useBuilder, useDocument, useIssuesByNode, useUi } from "./context";
import { type CardNode, type LineEdge, toEdges, toNodes } from "./flow";
import { useConnecting, useDragging, useDrops } from "./gestures";
import { Line } from "./line";
import { ZoomBar } from "./toolbar";

const nodeTypes = { card: Card, container: ContainerFrame };
const edgeTypes = { line: Line };
const edgeOptions = {
  markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18, markerUnits: "userSpaceOnUse" },
  interactionWidth: 18,
};
const grid: [number, number] = [metrics.grid, metrics.grid];
const additive = ["Meta", "Control", "Shift"];

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
/** What is shown in part is shown at a size to work at. */
const comfortable = 0.85;

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
    bounds.height * comfortable < height - 2 * pad
      ? height / 2 - (bounds.y + bounds.height / 2) * comfortable
      : height / 2 - start.y * comfortable;
  void flow.setViewport({ x: pad - bounds.x * comfortable, y, zoom: comfortable });
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
