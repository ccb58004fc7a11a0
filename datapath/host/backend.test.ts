import { fakeHarness } from '../netlink/harness.suite.ts';
import { hostBackendSuite } from './backend.suite.ts';

hostBackendSuite('fake', () => fakeHarness());
hostBackendSuite('fake without VRFs', () => fakeHarness({ vrf: false }));
