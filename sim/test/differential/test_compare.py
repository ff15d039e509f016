#!/usr/bin/env python3
"""Proves that the comparison sees what it is there to see."""

import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import play  # noqa: E402
import report  # noqa: E402
import script  # noqa: E402
import server  # noqa: E402
import tolerated  # noqa: E402

UIDS = [f"{i:08x}-0000-4000-8000-000000000000" for i in range(9)]


def configmap(uid, version, **more):
    return {"kind": "ConfigMap", "metadata": {"name": "a", "uid": uid, "resourceVersion": str(version)}, **more}


def records(*bodies, code=200, method="PUT"):
    return [play.Record("c", script.Operation(f"step{i}", method, "/x"), server.Answer(code, {}, json.dumps(body)), None, "/x", None)
            for i, body in enumerate(bodies)]


def differing_paths(real, simulated):
    return [[d[0] for d in v.differences] for v in report.judge(real, simulated, ["runa", "runb"])]


class Compare(unittest.TestCase):
    def test_own_values_of_a_server_agree(self):
        self.assertEqual([[], []], differing_paths(records(configmap(UIDS[0], 5), configmap(UIDS[0], 9)),
                                                   records(configmap(UIDS[1], 50), configmap(UIDS[1], 51))))

    def test_another_value_differs(self):
        self.assertEqual([["body.data.k"]], differing_paths(records(configmap(UIDS[0], 5, data={"k": "1"})),
                                                            records(configmap(UIDS[0], 5, data={"k": "2"}))))

    def test_a_missing_member_differs(self):
        self.assertEqual([["body.data"]], differing_paths(records(configmap(UIDS[0], 5, data={})), records(configmap(UIDS[0], 5))))

    def test_null_and_absent_differ(self):
        self.assertEqual([["body.data"]], differing_paths(records(configmap(UIDS[0], 5, data=None)), records(configmap(UIDS[0], 5))))

    def test_true_and_one_differ(self):
        self.assertEqual([["body.data"]], differing_paths(records(configmap(UIDS[0], 5, data=True)), records(configmap(UIDS[0], 5, data=1))))

    def test_another_code_differs(self):
        self.assertEqual([["code"]], differing_paths(records({}, code=200), records({}, code=201)))

    def test_a_write_that_only_one_server_counts_differs(self):
        self.assertEqual([[], ["body.metadata.resourceVersion"]],
                         differing_paths(records(configmap(UIDS[0], 5), configmap(UIDS[0], 5)), records(configmap(UIDS[0], 5), configmap(UIDS[0], 6))))

    def test_an_object_that_was_replaced_on_one_server_differs(self):
        self.assertEqual([[], ["body.metadata.uid"]],
                         differing_paths(records(configmap(UIDS[0], 5), configmap(UIDS[0], 6)), records(configmap(UIDS[0], 5), configmap(UIDS[1], 6))))

    def test_versions_that_go_down_differ(self):
        self.assertEqual([[], ["order"]],
                         differing_paths(records(configmap(UIDS[0], 5), configmap(UIDS[0], 6)), records(configmap(UIDS[0], 5), configmap(UIDS[0], 4))))

    def test_events_in_another_order_differ(self):
        added, deleted = ({"type": kind, "object": {"metadata": {"name": kind}}} for kind in ("ADDED", "DELETED"))
        real, simulated = records({"events": [added, deleted]}, method="EVENTS"), records({"events": [deleted, added]}, method="EVENTS")
        self.assertIn("body.events[0].type", differing_paths(real, simulated)[0])

    def test_precision_of_times_differs(self):
        self.assertEqual([["body.t"]], differing_paths(records({"t": "2026-11-21T10:00:00Z"}), records({"t": "2026-11-21T10:00:00.000000Z"})))

    def test_a_request_that_one_server_did_not_answer_differs(self):
        unanswered = records({})
        unanswered[0].problem = "no answer"
        self.assertEqual([[""]], differing_paths(records({}), unanswered))


class TheList(unittest.TestCase):
    def setUp(self):
        self.kept = tolerated.LIST[:]
        tolerated.LIST[:] = [tolerated.Tolerated("c/step*", r"body\.x", "for the test", real="1", simulated=r"\(absent\)")]

    def tearDown(self):
        tolerated.LIST[:] = self.kept

    def test_a_listed_difference_is_covered(self):
        verdict = report.judge(records({"x": 1}), records({}), ["runa", "runb"])[0]
        self.assertEqual(([], tolerated.LIST), (verdict.differences, verdict.listed))
        self.assertEqual([], report.unused())

    def test_another_value_is_not_covered(self):
        self.assertEqual([["body.x"]], differing_paths(records({"x": 2}), records({})))

    def test_another_path_is_not_covered(self):
        self.assertEqual([["body.y"]], differing_paths(records({"x": 1, "y": 1}), records({})))

    def test_what_nothing_needs_is_reported(self):
        differing_paths(records({}), records({}))
        self.assertEqual(tolerated.LIST, report.unused())


class Script(unittest.TestCase):
    def test_paths(self):
        value = {"a": {"b.c": [{"n": {"x": "1"}, "v": 2}, {"n": {"x": "2"}, "v": 3}]}}
        for path, want in (("a.b\\.c[n.x=2].v", 3), ("a.b\\.c.0.v", 2), ("a.none.v", None), ("a.b\\.c.7", None), ("", value)):
            self.assertEqual(want, script.follow(value, path), path)

    def test_references_keep_the_type(self):
        self.assertEqual({"n": 5, "s": "n=5"}, script.resolve({"n": "${op:x}", "s": "n=${op:x}"}, lambda name, path: 5))


if __name__ == "__main__":
    unittest.main()
