/** For Vitest: the files that take longest first, so that no row of lanes ends with one of them alone on a processor. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Of every lane, those of a minute or so, longest first: `make test` names them at its end. A list, as a fresh clone has no record of
 * earlier runs.
 */
export const LONGEST: readonly string[] = [
  'test/e2e/north-south-local.test.ts',
  'test/e2e/with-ovn.test.ts',
  'test/e2e/kubelet-real.test.ts',
  'test/e2e/service-faults.test.ts',
  // Longer than these two, but it has a limit that it takes from the load of the machine before it: with these there is some.
  'test/e2e/demo.test.ts',
  'test/e2e/udnctl-remote.test.ts',
  'test/e2e/network-policy.test.ts',
  'test/e2e/services.test.ts',
  'test/e2e/shared.test.ts',
  'test/e2e/north-south-kernel.test.ts',
  'test/e2e/service-names-real.test.ts',
  'test/e2e/policy-table.test.ts',
  'test/e2e/policy-window.test.ts',
  'test/e2e/faults-agent.test.ts',
  'test/e2e/bad-input-services.test.ts',
  'test/integration/kube-conformance.test.ts',
  'test/e2e/service-kernel.test.ts',
  'test/e2e/quickstart.test.ts',
  'test/e2e/on-demand.test.ts',
  'test/integration/disturbed-cluster/cut-watches.test.ts',
  'test/e2e/network-deletion.test.ts',
  'test/integration/host-drift.test.ts',
  'test/e2e/drift.test.ts',
];

/** What `LONGEST` names comes first, in its order; the others stay in theirs. Pure. */
export const longestFirst = <T>(files: readonly T[], pathOf: (file: T) => string): T[] => {
  const rank = (file: T): number => {
    const index = LONGEST.indexOf(pathOf(file));
    return index === -1 ? LONGEST.length : index;
  };
  return files.toSorted((a, b) => rank(a) - rank(b));
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Projects stay together: Vitest runs one after the other.
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const { root } = this.ctx.config;
    return [...projects.values()].flatMap((some) => longestFirst(some, ({ moduleId }) => relative(root, moduleId)));
  }
}
