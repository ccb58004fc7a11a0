import { HAS_ALL_SCENARIOS } from '../cluster/sample.ts';

/** All that tests of policies have, and not a sample: `UDN_POLICIES=all`, and in `make test-all`. */
export const POLICIES_IN_FULL = HAS_ALL_SCENARIOS || process.env['UDN_POLICIES'] === 'all';
