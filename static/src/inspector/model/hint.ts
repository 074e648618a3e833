/** What to do about an error, by its code. */

const hints: Record<string, string> = {
  template:
    'A reference led to nothing. Look at the input of this step, or give it a fallback: {{ step.id.field ?? "…" }}.',
  config:
    "The settings of the step, with their references filled in, are not what its kind takes. Compare the Input tab.",
  timeout: "The attempt took too long. Raise the step's timeout, or ask for less at once.",
  panic: "The step stopped unexpectedly. This is a fault of the program, not of the workflow.",
  too_large:
    "A value is larger than the limit that the message names. Pass a reference or a part of it instead.",
  rejected:
    "Somebody said no, and no connection leaves that outcome. Connect it to decide what happens then.",
  interrupted: "The server stopped while the step ran, and the step is set not to be repeated by itself.",
  crash_loop:
    "The server stopped five times at this step. See whether it needs too much memory before you retry.",
  unknown_type: "This server does not know the step's kind. It may be older than the workflow.",
  cancelled: "Somebody cancelled the run.",
  item_failed: "Something inside failed. Go to where it began.",
  bad_output:
    "The model's answer did not fit the output schema. Say in the prompt what is wanted, or loosen the schema.",
  no_recipe: "There is no such recipe, or no such version of it.",
  http_status: "The server answered, but not with what was asked for. The message has its answer.",
  http_network: "The server could not be reached. See whether the address is right and reachable from here.",
  http_blocked: "Requests to this address are not allowed by the settings of the server.",
  model_unavailable:
    "The provider did not answer. It was tried again as often as the step allows; retry later.",
  model_rate_limited: "The provider asked for fewer requests. Lower the concurrency, or allow more attempts.",
  model_request: "The provider refused the request as it is. The message says why.",
  model_auth: "The provider did not accept the key. Correct it in the settings, then retry the run.",
  unknown_model: "The provider has no such model. Choose another in the step or the recipe.",
  model_length: "The answer was cut off. Allow it more tokens, or ask for a shorter one.",
  model_refusal: "The model, or a filter before it, declined to answer this prompt.",
  model_protocol: "The provider's answer could not be read. See whether its address is that of an API.",
};

export function hintFor(code: string): string {
  return hints[code] ?? "";
}
