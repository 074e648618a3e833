/** The builder as a whole. */

import { ReactFlowProvider } from "@xyflow/react";
import { X } from "lucide-react";
import { useEffect } from "react";
import type { Builder } from "./builder";
import { Canvas } from "./canvas";
import { BuilderContext, useBuilder, useUi } from "./context";
import { Dialogs } from "./dialog/dialogs";
import { listen } from "./keys";
import { Palette, QuickAdd } from "./palette";
import { Panel } from "./panel/panel";
import { Toolbar } from "./toolbar";

function Toasts() {
  const b = useBuilder();
  const { toasts } = useUi();
  return (
    <div className="bld-toasts" role="status" aria-live="polite">
      {toasts.map((t) => (
        <div key={t.id} className="bld-toast" data-tone={t.tone}>
          <span>{t.text}</span>
          {t.undo !== null && (
            <button
              type="button"
              className="bt-link"
              onClick={() => {
                b.undo();
                b.dismiss(t.id);
              }}
            >
              Undo
            </button>
          )}
          <button type="button" className="ib" aria-label="Dismiss" onClick={() => b.dismiss(t.id)}>
            <X size={13} aria-hidden="true" />
          </button>
        </div>
      ))}
    </div>
  );
}

export function App({ builder }: { builder: Builder }) {
  useEffect(() => {
    void builder.check();
    return listen(builder);
  }, [builder]);
  return (
    <BuilderContext.Provider value={builder}>
      <ReactFlowProvider>
        <div className="bld">
          <Toolbar />
          <Palette />
          <div className="bld-stage">
            <Canvas />
            <Toasts />
          </div>
          <Panel />
        </div>
        <QuickAdd />
        <Dialogs />
      </ReactFlowProvider>
    </BuilderContext.Provider>
  );
}
