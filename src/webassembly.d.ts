// The part of WebAssembly that flite and the MP3 encoder need. TypeScript
// declares it only together with the whole browser.
declare namespace WebAssembly {
  type Imports = Record<string, Record<string, (...args: never[]) => unknown>>;

  interface Memory {
    readonly buffer: ArrayBuffer;
  }

  class Module {
    constructor(bytes: Uint8Array);
    readonly [Symbol.toStringTag]: string;
  }

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }

  function compile(bytes: Uint8Array): Promise<Module>;
}
