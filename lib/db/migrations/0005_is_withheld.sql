-- service.is_withheld is new, in lib/db/functions. Versions that lack it would drop it while newer ones use it: this file's number keeps
-- them from defining their functions.
SELECT 1;
