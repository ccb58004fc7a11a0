/** Which of the scenarios that are much alike a run has. */
import { createRandom } from '../faults/random.ts';

/** `make test-all`, before a release. */
export const HAS_ALL_SCENARIOS = process.env['UDN_SCENARIOS'] === 'all';

/** Others by each sample of `make test`, whose one number chooses them again; all of them in `make test-all`. */
export const someOf = <Scenario>(scenarios: readonly Scenario[], count: number): Scenario[] => {
  const given = process.env['UDN_HOSTILE_SEED'];
  const random = createRandom(given === undefined ? undefined : Number(given));
  const left = [...scenarios];
  while (!HAS_ALL_SCENARIOS && left.length > count) left.splice(left.indexOf(random.pick(left)), 1);
  return left;
};
