import { linuxHarness } from '../netlink/harness.suite.ts';
import { hostBackendSuite } from './backend.suite.ts';

hostBackendSuite('Linux', linuxHarness);
