/** `udnctl explain pod NS/NAME`, `udnctl explain service NS/NAME`, `udnctl explain network NAME`. */
import { CliError } from '../errors.ts';
import { type ExplainOutput, type Explanation, explainOutput } from '../explain/check.ts';
import { daemonChecks, failedDaemons, withoutStopped } from '../explain/daemon-checks.ts';
import { explainNetwork } from '../explain/explain-network.ts';
import { explainPod } from '../explain/explain-pod.ts';
import { explainService } from '../explain/explain-service.ts';
import type { Explained } from '../explain/explained.ts';
import type { ExplainSources } from '../explain/sources.ts';

/** @throws CliError, status 2 for a pod or a Service without a namespace */
export const explain = async (sources: ExplainSources, kind: Explained, name: string): Promise<ExplainOutput> => {
  const failed = failedDaemons(sources);
  const { subject, checks } = await explainOne(withoutStopped(sources, failed), kind, name);
  return explainOutput({ subject, checks: [...checks, ...daemonChecks(await failed)] });
};

const explainOne = async (sources: ExplainSources, kind: Explained, name: string): Promise<Explanation> => {
  if (kind === 'network') return await explainNetwork(sources, name);
  if (!/^[^/\s]+\/[^/\s]+$/.test(name)) throw new CliError(`a ${kind} is NAMESPACE/NAME, not "${name}"`, 2);
  return await (kind === 'pod' ? explainPod : explainService)(sources, name);
};
