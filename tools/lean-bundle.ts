/**
 * Keeps out of a bundle what costs a daemon memory and is never used.
 *
 * 1. An `import` of one of Node's modules reads all of its exports, among them getters that load other modules: that of
 *    `node:http` loads WebSocket and fetch, 14 MiB of resident memory. `process.getBuiltinModule` reads none.
 * 2. `import { z } from 'zod'` brings its messages in all languages, 300 KiB of source.
 * 3. prom-client brings a client of the Pushgateway, which loads TLS, the collection from worker processes, which loads
 *    `node:cluster`, and summaries: 10 MiB.
 * 4. V8 keeps the text of a program, with two bytes for each character as soon as one of them is not in Latin-1. esbuild escapes those of
 *    strings and leaves those of comments within classes: without comments the text is one and a half MiB instead of four.
 */
import type { BuildOptions, Plugin } from 'esbuild';

export const leanBundle: Plugin = {
  name: 'lean-bundle',
  setup: (build) => {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: BUILTIN } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: BUILTIN }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: 'js',
    }));
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
      loader: 'js',
    }));
    build.onLoad({ filter: /\/prom-client\/lib\/(pushgateway|cluster|summary)\.js$/ }, () => ({
      contents: 'module.exports = undefined;',
      loader: 'js',
    }));
  },
};

const BUILTIN = 'builtin';

/** How every program is bundled, wherever it is written. */
export const BUNDLE = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minifySyntax: true,
  // Comments go, names stay: stack traces are for people, and lines are short enough to be shown.
  minifyWhitespace: true,
  lineLimit: 120,
  plugins: [leanBundle],
  legalComments: 'none',
  logLevel: 'warning',
  // CommonJS dependencies call require() for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
} as const satisfies BuildOptions;

/** Of a daemon: a script, which V8 takes with its code, and no module. program/compiled.ts gives it what is defined here. */
export const DAEMON_BUNDLE = {
  ...BUNDLE,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  banner: {},
  define: { 'import.meta.url': '__url', 'import.meta.dirname': '__dirname' },
} as const satisfies BuildOptions;
