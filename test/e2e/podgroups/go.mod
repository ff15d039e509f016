module kar-controllers/test/e2e/podgroups

go 1.26.0

require sigs.k8s.io/scheduler-plugins v0.34.7
