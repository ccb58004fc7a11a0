import { expect, it } from 'vitest';
import { importsOf, violations } from './import-rules.ts';

const edge = (from: string, to: string, isPackage = false) => ({ from, to, isPackage });

it('lets a folder import itself and the layers below', () => {
  expect(
    violations([
      edge('net/cidr.ts', 'net/ip.ts'),
      edge('agent/main.ts', 'ovsdb/session.ts'),
      edge('agent/features/pods/index.ts', 'agent/model/view.ts'),
      edge('agent/features/pods/index.ts', 'ovsdb/models/northbound.gen.ts'),
      edge('cli/main.ts', 'agent/render.ts'),
      edge('agent/features/pods/pods.test.ts', 'agent/testing/cluster.ts'),
      edge('agent/features/index.ts', 'agent/features/pods/index.ts'),
      edge('agent/features/pods/pods.test.ts', 'agent/features/pods/pod-port.ts'),
      edge('agent/features/pods/index.ts', 'agent/features/shared/local-network.ts'),
      edge('agent/wiring/core.ts', 'agent/features/index.ts'),
      edge('ovsdb/testing/server.ts', 'sandbox/tree/tree.ts'),
      edge('sandbox/cli/api.ts', 'kube/embedded/server.ts'),
      edge('kube/embedded/server.ts', 'kube/embedded/cluster.ts'),
      edge('agent/agent.ts', 'node:fs', true),
      edge('agent/features/pods/pods.test.ts', 'node:fs', true),
    ]),
  ).toEqual([]);
});

it.each([
  [edge('net/ip.ts', 'api/nad.ts'), /net may import only net, base$/],
  [edge('agent/features/pods/index.ts', 'ovsdb/session.ts'), /agent\/features may import only/],
  [edge('agent/features/pods/index.ts', 'agent/cni/server.ts'), /agent\/features may import only/],
  [edge('agent/features/pods/index.ts', 'agent/features/zone/index.ts'), /only agent\/features\/index.ts may import/],
  [edge('agent/features/shared/merge.ts', 'agent/features/zone/index.ts'), /only agent\/features\/index.ts may import/],
  [edge('agent/node/keeper.test.ts', 'agent/features/zone/index.ts'), /only agent\/features\/index.ts may import/],
  [edge('agent/node/keeper.ts', 'agent/features/shared/merge.ts'), /is for agent\/features only/],
  [edge('cluster-manager/main.ts', 'agent/model/view.ts'), /cluster-manager may import only/],
  [edge('kube/config/load.ts', '@kubernetes/client-node', true), /for tests only/],
  [edge('cli/cluster/tables.ts', 'kube/embedded/table/cells.ts'), /only kube\/embedded, sandbox may use/],
  [edge('kube/client/connect.ts', 'kube/embedded/server.ts'), /only kube\/embedded, sandbox may use/],
  [edge('net/ip.ts', 'vitest', true), /for tests only/],
  [edge('agent/main.ts', 'agent/testing/cluster.ts'), /for tests only/],
  [edge('demo/demo.ts', 'test/e2e/support/cluster/cluster.ts'), /demo may import only/],
  [edge('demo/demo.ts', 'test/oracles/reachability/judge.test.ts'), /for tests only/],
  [edge('agent/main.ts', 'test/oracles/services/rows.ts'), /agent may import only/],
  [edge('agent/cni/handler.ts', 'datapath/exec/types.ts'), /no child process/],
  [edge('agent/cni/handler.ts', 'node:child_process', true), /no child process/],
  [edge('agent/features/pods/index.ts', 'node:fs', true), /features are pure/],
  [edge('unknown/a.ts', 'net/ip.ts'), /no layer is declared/],
])('refuses %o', (bad, message) => {
  expect(violations([bad])).toEqual([expect.stringMatching(message)]);
});

it('finds imports of every form', () => {
  const source = [
    "import 'node:fs';",
    "import { type A, b } from './a.ts';",
    "import type { C } from '../c.ts';",
    "import {\n  d,\n  e,\n} from './d.ts';",
    "export * from './f.ts';",
    "export const text = 'from nowhere';",
    "const g = await import('./g.ts');",
    "export type { H } from 'pkg/h';",
  ].join('\n');
  expect(importsOf(source)).toEqual(['node:fs', './a.ts', '../c.ts', './d.ts', './f.ts', './g.ts', 'pkg/h']);
});
