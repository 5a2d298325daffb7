// Which methods each address has, so that a wrong method is answered with 405
// and the right ones. (fastify's router answers 404 to both.)
export class RouteTable {
  readonly #routes = new Map<
    string,
    { readonly segments: readonly string[]; readonly methods: Set<string> }
  >();

  /** `pattern` in the router's form: `/v1/realtime/calls/:id`. */
  add(pattern: string, methods: string | readonly string[]): void {
    const route = this.#routes.get(pattern) ?? { segments: pattern.split('/'), methods: new Set<string>() };
    for (const method of [methods].flat()) route.methods.add(method);
    this.#routes.set(pattern, route);
  }

  /** The methods of an address, sorted; none when there is no such address. */
  methodsOf(url: string): string[] {
    const path = (url.split('?', 1)[0] ?? '').split('/');
    const routes = [...this.#routes.values()].filter(({ segments }) => matches(segments, path));
    return [...new Set(routes.flatMap(({ methods }) => [...methods]))].sort();
  }
}

function matches(segments: readonly string[], path: readonly string[]): boolean {
  if (segments.length !== path.length) return false;
  return segments.every((segment, index) => {
    return segment.startsWith(':') ? path[index] !== '' : segment === path[index];
  });
}
