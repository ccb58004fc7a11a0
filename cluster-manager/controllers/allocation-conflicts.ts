/** Reports to owners that another owner holds what their objects hold. */
import { IPAM_CLAIM_API_VERSION, NAD_API_VERSION } from '../../api/names.ts';
import { describeRef } from '../../api/object.ts';
import type { Problem } from '../state/cluster-state.ts';
import type { ProblemReporter } from './problem-reporter.ts';

export const reportConflicts = (reporter: ProblemReporter, problems: readonly Problem[]): void => {
  for (const [, same] of Map.groupBy(problems, ({ object }) => describeRef(object))) {
    const { object } = same[0] ?? {};
    if (object === undefined) continue;
    reporter.report(
      { apiVersion: API_VERSIONS[object.kind] ?? 'v1', ...object },
      'AllocationConflict',
      same.map(({ message }) => message),
    );
  }
};

const API_VERSIONS: Readonly<Record<string, string>> = {
  NetworkAttachmentDefinition: NAD_API_VERSION,
  IPAMClaim: IPAM_CLAIM_API_VERSION,
};
