-- Version 3: agents run unrestricted; a native question fails its turn, nothing waits for approval.
DROP TABLE approval_requests;
