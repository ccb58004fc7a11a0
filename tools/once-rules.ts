/** What is written in one place, and how its like in another place looks: for product code, as tests may do such things. */

interface OnceRule {
  /** A run of text of a source file. */
  readonly pattern: RegExp;
  /** The files that may. */
  readonly home: readonly string[];
  readonly instead: string;
}

const RULES: readonly OnceRule[] = [
  {
    pattern: /\b(?:add|remove)EventListener\('abort'/,
    home: ['base/abort.ts'],
    instead: '`onAbort` or `abortable` of base/abort.ts, which take their listeners off',
  },
  {
    pattern: /instanceof Error \? \w+\.message/,
    home: ['base/error-message.ts'],
    instead: '`messageOf` of base/error-message.ts',
  },
  {
    pattern: /instanceof Error (?:&& 'code' in|\? \w+ : new Error)/,
    home: ['base/error-message.ts'],
    instead: '`codeOf` of base/error-code.ts or `errorOf` of base/error-message.ts',
  },
  {
    pattern: /\.split\('\\n'\)[^;]*\bactions=|\bactions=[^;]*\.split\('\\n'\)|indexOf\('actions='\)/,
    home: ['datapath/openflow/text/flow-dump.ts'],
    instead: '`flowParts` or `parseFlows` of datapath/openflow/text/flow-dump.ts, which read `ovs-ofctl dump-flows`',
  },
  {
    pattern: /ms \* 2 \*\*/i,
    home: ['base/backoff.ts'],
    instead: '`backoffMs` or `Backoff` of base/backoff.ts',
  },
  {
    pattern: /\bequal: \(\w+, \w+\) =>/,
    home: [],
    instead: 'no list of fields, which nobody completes: the default, or `equalBut` of kube/json-equal.ts',
  },
];

/** One message per file and rule that it breaks. */
export const writtenAgain = (path: string, source: string): string[] =>
  RULES.filter(({ pattern, home }) => pattern.test(source) && !home.includes(path)).map(
    ({ instead, pattern }) => `${path} has ${pattern.exec(source)?.[0]}, but should use ${instead}`,
  );
