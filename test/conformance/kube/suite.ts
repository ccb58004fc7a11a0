/**
 * What this project relies on of a Kubernetes API server, as tests that run against the embedded one and against a real
 * one. They assert only what a real server does.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import type { KubeClient } from '../../../kube/types.ts';
import { builtinCases } from './builtin.case.ts';
import { clientCases } from './client.case.ts';
import { controllerCases } from './controllers.case.ts';
import { crdCases } from './crd.case.ts';
import { crudCases } from './crud.case.ts';
import { deletionCases } from './deletion.case.ts';
import { createHarness, type Harness } from './harness.ts';
import { listCases } from './list.case.ts';
import { patchCases } from './patch.case.ts';
import { applyCases } from './server-side-apply.case.ts';
import { statusCases } from './status.case.ts';
import { watchCases } from './watch.case.ts';

export interface ConformanceServer {
  readonly client: KubeClient;
  /** Makes the server forget its history. Absent: cases that need it are skipped. */
  readonly compact?: () => Promise<void>;
  close(): Promise<void>;
}

export interface KubeConformanceOptions {
  readonly name: string;
  /** Called once. */
  readonly newServer: () => Promise<ConformanceServer>;
  /** Cases by their full name, with the reason why this server can't pass them. */
  readonly skip?: readonly { readonly reason: string; readonly tests: readonly string[] }[];
  /** Leaves out the group `controllers`, which needs kube-controller-manager. */
  readonly withoutControllers?: boolean;
  /** After how long a watch is asked to end in order to see a bookmark. A real server (1.36) sends none in 8 s, and one in 12. */
  readonly bookmarkSeconds?: number;
}

export type Cases = (harness: Harness) => void;

const CASES: Readonly<Record<string, Cases>> = {
  crud: crudCases,
  list: listCases,
  watch: watchCases,
  patch: patchCases,
  apply: applyCases,
  status: statusCases,
  deletion: deletionCases,
  crd: crdCases,
  builtin: builtinCases,
  controllers: controllerCases,
  client: clientCases,
};

export const runKubeConformance = (options: KubeConformanceOptions): void => {
  describe(options.name, () => {
    let server: ConformanceServer | undefined;
    beforeAll(async () => {
      server = await options.newServer();
    });
    afterAll(() => server?.close());
    for (const [group, cases] of Object.entries(CASES)) {
      const isOut = group === 'controllers' && options.withoutControllers === true;
      describe.skipIf(isOut)(group, () => cases(createHarness(options, group, () => server!)));
    }
  });
};
