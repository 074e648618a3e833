/** The graph that ran, read-only, with what happened on it. */

import {
  Background,
  BackgroundVariant,
  BaseEdge,
  EdgeLabelRenderer,
  type EdgeProps,
  getBezierPath,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { memo, useEffect, useMemo, useRef } from "react";
import type { Span } from "../../live/span";
import { useFeed, useInspector, useUi } from "../context";
import { type Inspector, runSpan } from "../inspector";
import { shownStatus } from "../model/activity";
import { overlayOf } from "../model/overlay";
import { IconButton } from "../parts";
import { type StepNode, stepNodes, type Way, ways } from "./flow";
import { Frame } from "./frame";
import { Step } from "./step";

const WayLine = memo(function WayLine(p: EdgeProps<Way>) {
  const [path, x, y] = getBezierPath({ ...p, curvature: 0.3 });
  const { state = "open", label = "" } = p.data ?? {};
  return (
    <>
      <BaseEdge id={p.id} path={path} className="ge" data-state={state} interactionWidth={0} />
      {label !== "" && (
        <EdgeLabelRenderer>
          <div
            className="ge-label"
            data-state={state}
            title={label}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {label}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

const nodeTypes = { step: Step, frame: Frame };
const edgeTypes = { way: WayLine };

function useOverlay() {
  const i = useInspector();
  const { version } = useFeed();
  const { picks } = useUi();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the spans
  return useMemo(() => {
    const statusOf = (s: Span): string => {
      const node = i.node(s.id);
      return node === undefined ? s.status : shownStatus(node);
    };
    return overlayOf(i.layout, i.kinds, i.feed.spans, picks, statusOf);
  }, [i, version, picks]);
}

/** The node of the selected span. */
function selectedNode(i: Inspector, active: string): string {
  return i.feed.spans.get(active)?.node_id ?? "";
}

function ZoomBar() {
  const flow = useReactFlow();
  const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 150;
  return (
    <div className="gr-zoom" role="toolbar" aria-label="Zoom of the graph">
      <IconButton label="Zoom out" onClick={() => void flow.zoomOut({ duration })}>
        <ZoomOut size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label="Zoom in" onClick={() => void flow.zoomIn({ duration })}>
        <ZoomIn size={14} aria-hidden="true" />
      </IconButton>
      <IconButton
        label="Show all of the graph"
        onClick={() => void flow.fitView({ padding: 0.08, maxZoom: 1, duration })}
      >
        <Maximize size={14} aria-hidden="true" />
      </IconButton>
    </div>
  );
}

/** Below this a title can't be read. */
const readable = 0.45;

/** Shows all of it, or where it starts when all of it would be too small to read. */
function open(flow: ReactFlowInstance<StepNode, Way>, box: HTMLElement | null): void {
  const nodes = flow.getNodes();
  if (box === null || nodes.length === 0) return;
  const bounds = flow.getNodesBounds(nodes);
  const { width, height } = box.getBoundingClientRect();
  const pad = 28;
  const fits = Math.min((width - 2 * pad) / bounds.width, (height - 2 * pad) / bounds.height);
  const zoom = Math.min(1, fits >= readable ? fits : 0.6);
  const [spareX, spareY] = [width - bounds.width * zoom, height - bounds.height * zoom];
  const first = nodes.find((n) => n.data.node.type === "trigger")?.position.y ?? bounds.y;
  const x = (spareX >= 2 * pad ? spareX / 2 : pad) - bounds.x * zoom;
  const y = spareY >= 2 * pad ? spareY / 2 - bounds.y * zoom : height / 3 - first * zoom;
  void flow.setViewport({ x, y, zoom });
}

/** Moves a node into sight, if it is out of it. */
function reveal(
  flow: ReactFlowInstance<StepNode, Way>,
  id: string,
  box: HTMLElement | null,
  duration: number,
): void {
  const node = id === "" ? undefined : flow.getInternalNode(id);
  const r = box?.getBoundingClientRect();
  if (node === undefined || r === undefined || r.width === 0) return;
  const { x, y } = node.internals.positionAbsolute;
  const { width = 0, height = 0 } = node.measured;
  const from = flow.flowToScreenPosition({ x, y });
  const to = flow.flowToScreenPosition({ x: x + width, y: y + height });
  if (from.x >= r.left && from.y >= r.top && to.x <= r.right && to.y <= r.bottom) return;
  void flow.setCenter(x + width / 2, y + height / 2, { zoom: flow.getZoom(), duration });
}

/** Begins with all of the graph, or its start, and goes where the selection goes. */
function useView(selected: string, box: React.RefObject<HTMLElement | null>): void {
  const flow = useReactFlow<StepNode, Way>();
  const opened = useRef(false);
  useEffect(() => {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const frame = requestAnimationFrame(() => {
      if (!opened.current) open(flow, box.current);
      reveal(flow, selected, box.current, still || !opened.current ? 0 : 200);
      opened.current = true;
    });
    return () => cancelAnimationFrame(frame);
  }, [flow, selected, box]);
}

function Canvas() {
  const i = useInspector();
  const overlay = useOverlay();
  const { active } = useUi();
  const box = useRef<HTMLElement>(null);
  const selected = selectedNode(i, active);
  const before = useRef<ReadonlyMap<string, StepNode>>(new Map());
  const nodes = useMemo(() => {
    const next = stepNodes(i.layout, i.kinds, overlay, selected, before.current);
    before.current = new Map(next.map((n) => [n.id, n]));
    return next;
  }, [i, overlay, selected]);
  const edges = useMemo(() => ways(i.layout, i.kinds, overlay), [i, overlay]);
  useView(selected, box);
  const choose = (id: string) => {
    const span = overlay.nodes.get(id)?.span;
    if (span !== undefined) i.select(span.id);
    else i.say("This step was not reached.");
  };
  return (
    <section className="gr" ref={box} aria-label="Graph">
      <ReactFlow<StepNode, Way>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={(changes) => {
          // Clicks, and Enter on a focused node. What is selected is the inspector's to say.
          for (const c of changes) if (c.type === "select" && c.selected) choose(c.id);
        }}
        onPaneClick={() => i.select(runSpan)}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        minZoom={0.1}
        maxZoom={1.5}
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements={nodes.length > 150}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.25} />
      </ReactFlow>
      <ZoomBar />
    </section>
  );
}

export function Graph() {
  return (
    <ReactFlowProvider>
      <Canvas />
    </ReactFlowProvider>
  );
}
