import { createContext, useContext, useEffect, useState } from "react";
import { type Issue, issuesAt } from "../../graph/issue";
import type { Suggestion } from "../../graph/upstream";
import { type Choice, loadChoices } from "../api";

export type FormFacts = {
  suggestions: readonly Suggestion[];
  issues: readonly Issue[];
  /** The field to put the cursor into. */
  focus: string;
};

export const FormContext = createContext<FormFacts>({ suggestions: [], issues: [], focus: "" });

/** The findings at a field; with deep, also those below it. */
export function useIssuesAt(path: string, deep: boolean): Issue[] {
  const { issues } = useContext(FormContext);
  return deep ? issuesAt(issues, path) : issues.filter((i) => i.field === path);
}

export function useSuggestions(): readonly Suggestion[] {
  return useContext(FormContext).suggestions;
}

export function useFocus(path: string): boolean {
  return useContext(FormContext).focus === path;
}

const paths: Record<string, [string, string]> = {
  recipe: ["/recipes?limit=200", "id"],
  department: ["/departments?limit=200", "slug"],
  user: ["/users?limit=200", "email"],
  users: ["/users?limit=200", "email"],
  workflow: ["/workflows?limit=200", "id"],
  collection: ["/collections?limit=200", "slug"],
  connection: ["/connections?limit=200", "id"],
  model: ["/models", "id"],
  tool: ["/tools", "name"],
};
const loaded = new Map<string, Promise<Choice[]>>();

/** What a field that names something can be filled with. */
export function useChoices(source: string): Choice[] {
  const [choices, setChoices] = useState<Choice[]>([]);
  useEffect(() => {
    const path = paths[source];
    if (path === undefined) return;
    let current = true;
    const promise = loaded.get(source) ?? loadChoices(...path);
    loaded.set(source, promise);
    void promise.then((c) => current && setChoices(c));
    return () => {
      current = false;
    };
  }, [source]);
  return choices;
}
