import { linuxHarness } from '../netlink/harness.suite.ts';
import { hostBackendSuite } from './backend.suite.ts';
import { filterSuite } from './filters.suite.ts';

hostBackendSuite('Linux', linuxHarness);
filterSuite('Linux', linuxHarness);
